package io.github.pulsarspark.write.exactlyonce

import scala.util.control.NonFatal

import org.apache.spark.sql.connector.write.WriterCommitMessage
import org.slf4j.LoggerFactory

import io.github.pulsarspark.pulsar.PulsarConnection
import io.github.pulsarspark.pulsar.transactions.{TaskTransaction, TransactionCoordinator}

/** One attempt of a task, in one transaction, which begins with its first row. One thread uses it.
  *
  * @param partition
  *   of Spark
  * @param attempt
  *   Spark's id of it
  */
private[write] final class TaskAttempt(
    connection: PulsarConnection,
    task: SinkTask,
    epoch: Long,
    partition: Int,
    attempt: Long
) extends AutoCloseable {
  import TaskAttempt._

  private var coordinator  = Option.empty[TransactionCoordinator]
  private var begun        = Option.empty[TaskTransaction]
  private var isHandedOver = false

  /** Whether an earlier run wrote the epoch, so that this one sends nothing. */
  val isWritten: Boolean = task.done.exists(_ >= epoch)

  /** The transaction; begins it, and registers it with the driver, before anything is sent. */
  def transaction: TaskTransaction = begun.getOrElse {
    val transactions = connection.transactions()
    coordinator = Some(transactions)
    val result = new TaskTransaction(transactions, transactions.begin(task.settings.timeout))
    begun = Some(result)
    val record = SinkRecord.Open(epoch, SinkTransaction(result.id, partition, attempt), task.settings.timeout.toMillis)
    append(task.settings.topics.open, record, None)
    result
  }

  /** Hands the transaction over to the driver. Everything must be acknowledged; nothing is sent in it afterwards. */
  def finish(rows: Long, bytes: Long): SinkCommit = {
    val result = begun.fold(SinkCommit(None, Nil)) { t =>
      val one    = SinkTransaction(t.id, partition, attempt, rows, bytes)
      val marker = append(task.settings.topics.mark, SinkRecord.Marker(epoch, one), Some(t))
      SinkCommit(Some(one.copy(marker = Some(marker))), t.registered)
    }
    isHandedOver = true
    result
  }

  private def append(topic: String, record: SinkRecord, transaction: Option[TaskTransaction]): String = {
    val producer = connection.sharedControl(topic)
    try producer.value.append(SinkRecords.text(task.identity, record), transaction)
    finally producer.close()
  }

  /** Aborts a transaction that was not handed over. Its producers must be closed before. Never fails: the driver aborts
    * it as well.
    */
  override def close(): Unit = {
    if (!isHandedOver)
      for (c <- coordinator; t <- begun) try { c.abort(t.id); () }
      catch { case NonFatal(e) => log.warn("aborting transaction {}: {}", t.id, e.toString) }
    coordinator.foreach(_.close())
  }
}

private object TaskAttempt {
  private val log = LoggerFactory.getLogger(classOf[TaskAttempt])
}

/** What a task knows of its driver.
  *
  * @param done
  *   the last epoch that is written: tasks of it and of those before send nothing
  */
private[write] final case class SinkTask(settings: SinkSettings, identity: SinkIdentity, done: Option[Long])

/** What a task attempt reports.
  *
  * @param transaction
  *   in which it sends nothing any more; None for a task without rows
  * @param topicPartitions
  *   that have messages of it
  */
private[write] final case class SinkCommit(transaction: Option[SinkTransaction], topicPartitions: Seq[String])
    extends WriterCommitMessage
