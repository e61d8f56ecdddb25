package io.github.pulsarspark.pulsar.progress

import io.github.pulsarspark.position.{OffsetRange, Position}

/** Decides which entries of a topic partition a stream acknowledges, and what the cursor says of its ranges. Pure. */
private[progress] object Acknowledgement {

  /** The last entry to acknowledge.
    *
    * An entry that was read in part stays. So does the last entry before a range that is read next: the broker may
    * delete a ledger as soon as all of it is acknowledged, and tasks prove by this entry that nothing after it is gone.
    *
    * @param read
    *   what Spark has committed
    * @param isReadOn
    *   whether a micro-batch starts there now
    */
  def of(read: Position, isReadOn: Boolean): Position =
    if (read.isBeforeLedger || read.isWholeEntry && !isReadOn) read.wholeEntry
    else Position(read.ledgerId, read.entryId - 1)

  /** Where a range starts whose start the subscription has acknowledged. The ledger of the start may be gone, if it was
    * acknowledged to its end. Then the range starts at the next ledger. The broker keeps what follows the cursor, and
    * it moves a cursor from the end of a ledger to the beginning of the next one.
    *
    * @param cursor
    *   where the subscription is now
    * @param reader
    *   where the broker puts a reader that starts after the start of the range; requested only where it matters
    * @param newest
    *   the last entry that arrived; one after the start shows that the cursor passed messages, as when they expire
    */
  def startOf(
      range: OffsetRange,
      cursor: Position,
      reader: Option[Position],
      newest: Option[Position]
  ): Position = {
    val start = range.startExclusive
    val next  = if (cursor > start) Some(cursor) else reader
    next
      .filter(n => n.isBeforeLedger && start < n && n <= range.endInclusive)
      .filterNot(n => newest.exists(e => start < e && e <= n))
      .getOrElse(start)
  }
}
