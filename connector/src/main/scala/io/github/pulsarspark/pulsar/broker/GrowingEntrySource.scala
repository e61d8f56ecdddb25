package io.github.pulsarspark.pulsar.broker

import io.github.pulsarspark.format.UndecidedTransaction
import io.github.pulsarspark.format.entry.EntrySource
import io.github.pulsarspark.position.Position

/** The entries of a range whose end moves on: one subscription follows a topic partition over many ranges. */
private[pulsarspark] trait GrowingEntrySource extends EntrySource {

  /** Moves the end of the range. Only before the entry at the former end was passed: an entry after it, which ended the
    * range in its stead, is not read again.
    */
  def extendTo(position: Position): Unit

  /** Releases the current entry, which is not valid any more. */
  def release(): Unit

  /** False for every transaction: the broker delivers no entries of aborted ones. */
  def isAborted(mostBits: Long, leastBits: Long): Boolean = false

  /** Leaves the current entry to the broker. */
  def leaveToBroker(undecided: UndecidedTransaction): Unit = throw undecided
}
