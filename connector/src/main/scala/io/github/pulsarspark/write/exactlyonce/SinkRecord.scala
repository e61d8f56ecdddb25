package io.github.pulsarspark.write.exactlyonce

import io.github.pulsarspark.pulsar.transactions.TransactionId

/** What a record of the topics of a sink says. docs/develop/exactly-once.md fixes them. */
private[exactlyonce] sealed trait SinkRecord

private[exactlyonce] object SinkRecord {
  case object Owner extends SinkRecord

  /** @param from
    *   a record of the marker topic before every marker of the epoch
    */
  final case class Prepared(epoch: Long, transactions: Seq[SinkTransaction], from: String) extends SinkRecord
  final case class Done(epoch: Long, transactions: Int, rows: Long, bytes: Long)           extends SinkRecord
  final case class Dropped(epoch: Long)                                                    extends SinkRecord
  final case class Open(epoch: Long, transaction: SinkTransaction, timeout: Long)          extends SinkRecord
  final case class Marker(epoch: Long, transaction: SinkTransaction)                       extends SinkRecord
  final case class Barrier(id: String)                                                     extends SinkRecord

  /** Of a later version of the connector that knows more kinds. */
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
