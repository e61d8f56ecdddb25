package io.github.pulsarspark.format

import io.github.pulsarspark.format.entry.EntrySource

/** Entries with the tier that delivers each of them. */
private[pulsarspark] trait TieredEntrySource extends EntrySource {

  /** Tier that delivers the current entry. */
  def level: Tier

  /** True if the current entry is of no aborted transaction: the broker removes such entries. */
  def hidesAborted: Boolean = level == Tier.Broker

  /** Entries that arrived outside the range or out of order, and were rejected. */
  def rejectedEntries: Long

  /** Leaves the current entry and the rest of the range to the broker, which alone knows the outcome of the
    * transaction.
    */
  def leaveToBroker(undecided: UndecidedTransaction): Unit

  /** Requests entries before they are needed, where that is of use. */
  def prepare(): Unit = ()
}
