package io.github.pulsarspark.pulsar.progress

import io.github.pulsarspark.position.{OffsetRange, Position}

/** Decides which entries of a topic partition a stream acknowledges, and what the cursor proves about its ranges. Pure.
  */
private[progress] object Acknowledgement {

  /** The last entry to acknowledge.
    *
    * An entry that was read in part stays. So does the last entry before a range that is read next: the broker may
    * delete a ledger as soon as all of it is acknowledged, and tasks prove by this entry that nothing after it is
    * missing.
    *
    * @param read
    *   what Spark has committed
    * @param isReadOn
    *   whether a micro-batch starts there now
    */
  def of(read: Position, isReadOn: Boolean): Position =
    if (read.isBeforeLedger || read.isWholeEntry && !isReadOn) read.wholeEntry
    else Position(read.ledgerId, read.entryId - 1)

  /** Position at which to read a range whose start the subscription has acknowledged. If the ledger of the start was
    * acknowledged to its end, it may be deleted. Then the range starts at the next ledger.
    *
    * The cursor alone proves nothing: brokers move it from the end of a ledger to the next one while the ledger exists.
    * A reader that the broker places after the start proves that the entries between them are deleted. A cursor at or
    * before this reader proves that they held nothing unread, because the broker keeps everything after the cursor.
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

  /** Like `startOf`, but without a request, if the next entry begins a ledger. Nothing to read is between them, and the
    * ledger of the start may be deleted at any time.
    */
  def startBefore(range: OffsetRange, next: Option[Position]): Option[Position] = next
    .filter(e => e.entryId == 0 && e.ledgerId > range.startExclusive.ledgerId)
    .map(e => Position(e.ledgerId, -1))
    .filter(_ <= range.endInclusive)
}
