package io.github.pulsarspark.pulsar.transactions

import org.apache.pulsar.client.api.transaction.TxnID

/** Id of a transaction. Every client that has it can send in the transaction and end it. */
private[pulsarspark] final case class TransactionId(most: Long, least: Long) {
  private[transactions] def toPulsar: TxnID = new TxnID(most, least)

  /** The coordinator that began it. */
  def coordinator: Long = most

  override def toString: String = s"($most,$least)"
}
