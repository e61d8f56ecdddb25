package io.github.pulsarspark.write.exactlyonce

import io.github.pulsarspark.pulsar.transactions.TransactionId

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
