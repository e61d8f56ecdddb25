package io.github.pulsarspark.write.exactlyonce

import io.github.pulsarspark.pulsar.transactions.TransactionId

/** A transaction that a task registered before it sent anything.
  *
  * @param time
  *   milliseconds since 1970 when it was read
  */
private[exactlyonce] final case class OpenTransaction(id: TransactionId, owner: String, epoch: Long, time: Long)
