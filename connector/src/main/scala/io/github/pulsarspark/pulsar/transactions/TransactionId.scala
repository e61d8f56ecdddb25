package io.github.pulsarspark.pulsar.transactions

import org.apache.pulsar.client.api.transaction.TxnID

/** The id of a transaction, whoever has it can send in it and end it. */
private[pulsarspark] final case class TransactionId(most: Long, least: Long) {
  private[transactions] def toPulsar: TxnID = new TxnID(most, least)

  /** The coordinator that began it. */
  def coordinator: Long = most

  override def toString: String = s"($most,$least)"
}
