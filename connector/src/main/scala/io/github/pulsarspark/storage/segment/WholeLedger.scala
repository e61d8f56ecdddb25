package io.github.pulsarspark.storage.segment

/** A closed ledger.
  *
  * @param bytes
  *   of all its entries
  */
private[pulsarspark] final case class WholeLedger(id: Long, entries: Long, bytes: Long)
