package io.github.pulsarspark.storage.segment

/** A ledger that takes no more entries.
  *
  * @param bytes
  *   of all its entries
  */
private[pulsarspark] final case class WholeLedger(id: Long, entries: Long, bytes: Long)
