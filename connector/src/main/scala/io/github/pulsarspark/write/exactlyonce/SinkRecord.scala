package io.github.pulsarspark.write.exactlyonce

import io.github.pulsarspark.pulsar.transactions.TransactionId

/** Content of a record in the topics of a sink. docs/develop/exactly-once.md defines the format. */
private[exactlyonce] sealed trait SinkRecord

private[exactlyonce] object SinkRecord {

  /** @param target
    *   where the rows go, as [[SinkSettings.target]]; empty in records of early versions
    */
  final case class Owner(target: String) extends SinkRecord

  /** @param from
    *   a record of the marker topic before every marker of the epoch
    * @param target
    *   where the rows go, as [[SinkSettings.target]]
    * @param topicPartitions
    *   that have messages of it, where rows name their topics
    * @param isTakenOn
    *   whether its driver goes on with `onSinkMismatch=write`
    */
  final case class Prepared(
      epoch: Long,
      transactions: Seq[SinkTransaction],
      from: String,
      target: String,
      topicPartitions: Seq[String] = Nil,
      isTakenOn: Boolean = false
  ) extends SinkRecord

  /** An epoch that is committed. It has the whole state of the sink, so that older records need not be kept.
    *
    * @param target
    *   empty in records of early versions, which did not tell targets apart
    * @param rows
    *   that the epoch had
    * @param others
    *   the last epoch of each other target
    * @param lost
    *   how many of the rows are not in the topic, as a person accepted
    * @param isTakenOn
    *   true if its driver goes on with `onSinkMismatch=write`
    */
  final case class Done(
      epoch: Long,
      transactions: Int,
      rows: Long,
      bytes: Long,
      target: String,
      others: Map[String, Long] = Map.empty,
      lost: Long = 0,
      isTakenOn: Boolean = false
  ) extends SinkRecord {

    /** The last epoch of each target. */
    def targets: Map[String, Long] = others + (target -> epoch)
  }
  final case class Dropped(epoch: Long) extends SinkRecord

  /** @param began
    *   milliseconds since 1970 on the clock of the task
    */
  final case class Open(epoch: Long, transaction: SinkTransaction, timeout: Long, began: Long) extends SinkRecord
  final case class Marker(epoch: Long, transaction: SinkTransaction)                           extends SinkRecord
  final case class Barrier(id: String)                                                         extends SinkRecord

  /** A kind of record from a later version of the connector. */
  final case class Other(kind: String) extends SinkRecord
}

/** The transaction of a task attempt.
  *
  * @param bytes
  *   of values
  * @param marker
  *   where its marker is, `ledger:entry`
  */
private[write] final case class SinkTransaction(
    id: TransactionId,
    partition: Int,
    attempt: Long,
    rows: Long = 0,
    bytes: Long = 0,
    marker: Option[String] = None
)

/** Whose record it is.
  *
  * @param nonce
  *   the checkpoint, or kind of batch, that the sink belongs to
  * @param owner
  *   the life of a driver's coordinator
  */
private[write] final case class SinkIdentity(sinkId: String, nonce: String, owner: String)
