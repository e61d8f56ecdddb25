package io.github.pulsarspark.position

/** A place in one topic partition: ledger, entry and index in the entry's batch.
  *
  * `batchIndex` [[Position.WholeEntry]] (-1) stands for the entry as a whole: it is the position of a message that is
  * not batched, and of "everything in this entry" when it bounds a range. It therefore sorts after every message of the
  * entry. Entry -1 is the place before the first entry of a ledger.
  */
final case class Position(ledgerId: Long, entryId: Long, batchIndex: Int = Position.WholeEntry)
    extends Ordered[Position] {

  override def compare(that: Position): Int = {
    val byLedger = java.lang.Long.compare(ledgerId, that.ledgerId)
    if (byLedger != 0) byLedger
    else {
      val byEntry = java.lang.Long.compare(entryId, that.entryId)
      if (byEntry != 0) byEntry else Integer.compareUnsigned(batchIndex, that.batchIndex)
    }
  }

  def isWholeEntry: Boolean = batchIndex == Position.WholeEntry

  /** The last entry all messages of which are at or before this position. */
  def entryBefore: Position = if (isWholeEntry) this else Position(ledgerId, entryId - 1)

  /** The first entry of the same ledger with messages behind this one: of a batch, others may be left. */
  def firstEntryAfter: Long = if (isWholeEntry) entryId + 1 else entryId

  def wholeEntry: Position = if (isWholeEntry) this else copy(batchIndex = Position.WholeEntry)

  /** The position that comes directly before every message at this one: a range that starts there reads this one first.
    */
  def preceding: Position =
    if (isBeforeLedger) wholeEntry
    else if (batchIndex > 0) copy(batchIndex = batchIndex - 1)
    else Position(ledgerId, entryId - 1)

  /** True if no entry of this ledger is at or before this position. */
  def isBeforeLedger: Boolean = entryId < 0

  /** `12:34:5`, or `12:34` for a whole entry. */
  override def toString: String = if (isWholeEntry) s"$ledgerId:$entryId" else s"$ledgerId:$entryId:$batchIndex"
}

object Position {

  /** Batch index of a message that is not batched, and of an entry as a whole. */
  val WholeEntry: Int = -1

  /** The place before every message of a topic, also before those whose ledgers are deleted. */
  val BeforeAll: Position = Position(0, -1)

  private val text = raw"(\d{1,19}):(-1|\d{1,19})(?::(-1|\d{1,10}))?".r

  /** The place after every message that a topic may ever have. */
  val AfterAll: Position = Position(Long.MaxValue, Long.MaxValue)

  /** Reads `ledger:entry` or `ledger:entry:batchIndex`; None for anything else, also for numbers that are too large. */
  def parse(s: String): Option[Position] = s.trim match {
    case text(ledger, entry, batch) =>
      for {
        l <- ledger.toLongOption
        e <- entry.toLongOption
        b <- Option(batch).fold(Option(WholeEntry))(_.toIntOption)
      } yield Position(l, e, b)
    case _ => None
  }
}
