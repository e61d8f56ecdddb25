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
    * acknowledged to its end. Then the range starts at the next ledger.
    *
    * The place of the cursor alone says nothing: brokers move it from the end of a ledger to the beginning of the next
    * one while the ledger is there. A reader that the broker puts beyond the start shows that what is between is gone,
    * and a cursor that is not beyond this reader that it was nothing to read: the broker keeps what follows the cursor.
    *
    * @param cursor
    *   where the subscription is now
    * @param reader
    *   where the broker puts a reader that starts after the start of the range
    * @param first
    *   the first entry that arrived after the start; one before the reader shows that the cursor passed messages, as
    *   when they expire
    */
  def startOf(range: OffsetRange, cursor: Position, reader: Option[Position], first: Option[Position]): Position = {
    val start = range.startExclusive
    reader
      .filter(r => r.isBeforeLedger && start < r && r <= range.endInclusive)
      .filter(r => start <= cursor && cursor <= r)
      .filterNot(r => first.exists(e => start < e && e <= r))
      .getOrElse(start)
  }

  /** The same without a request: the next entry begins a ledger, so that nothing to read is between them, and the
    * ledger of the start may be deleted at any time.
    */
  def startBefore(range: OffsetRange, next: Option[Position]): Option[Position] = next
    .filter(e => e.entryId == 0 && e.ledgerId > range.startExclusive.ledgerId)
    .map(e => Position(e.ledgerId, -1))
    .filter(_ <= range.endInclusive)
}
