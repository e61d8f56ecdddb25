package io.github.pulsarspark.write.exactlyonce

import org.apache.spark.sql.connector.write.WriterCommitMessage

/** What a task attempt reports.
  *
  * @param transaction
  *   in which it sends nothing any more; None for a task without rows
  * @param topicPartitions
  *   that have messages of it
  */
private[write] final case class SinkCommit(transaction: Option[SinkTransaction], topicPartitions: Seq[String])
    extends WriterCommitMessage
