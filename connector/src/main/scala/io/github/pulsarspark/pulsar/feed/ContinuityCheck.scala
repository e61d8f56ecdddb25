package io.github.pulsarspark.pulsar.feed

import io.github.pulsarspark.position.Position

/** Decides what to do with each entry that a broker dispatches for a range, and what a gap between two of them means.
  * Pure.
  *
  * Gaps are normal: at markers, aborted transactions, ends of ledgers and what compaction removed. Trimming and expiry
  * make gaps, too, and those are losses. The cursor tells them apart. Nothing is ever acknowledged, so it moves only
  * when the broker moves it, and only forward: as long as it has not passed the last entry read, every entry that
  * arrived until then followed its predecessor. If it has moved, the feed is opened again after the last entry read. If
  * the broker then puts the cursor beyond that place at once, twice, the entries between them are deleted. If the same
  * entry arrives first again, no client can read anything between them: the broker acknowledges markers and aborted
  * transactions itself, which moves the cursor over those that a range begins with.
  *
  * A compacted topic begins with entries of ledgers that may be deleted. Below the place of the cursor, where the
  * topic's own ledgers begin, gaps are what compaction removed. They are trusted within one session only: a broker
  * resumes a consumer in the topic's own ledgers.
  *
  * @param start
  *   the last entry that counts as read
  */
private[pulsar] final class ContinuityCheck(start: Position, readCompacted: Boolean) {
  import ContinuityCheck._

  private var read                          = start
  private var cursor                        = start // when the feed was opened, before anything could move it
  private var session                       = 0
  private var isFresh                       = true  // no entry arrived since then
  private var provenTo                      = start
  private var firstBefore: Option[Position] = None  // the entry because of which the feed was opened again
  private var suspected: Option[Position]   = None  // the last entry read when a loss was suspected

  /** The last entry read, or that counts as read. */
  def last: Position = read

  /** True if the feed has to start at the earliest position: with the entries that compaction kept of deleted ledgers.
    */
  def mustStartAtEarliest(cursor: Position): Boolean = readCompacted && cursor > read

  /** The feed was opened, in this session and with the cursor there. */
  def opened(cursor: Position, session: Int): Unit = {
    this.cursor = cursor
    this.session = session
    isFresh = true
    provenTo = read
  }

  /** Decides about the entry that arrived. */
  def arrived(entry: Position, session: Int): Verdict =
    if (entry <= read) {
      val isExpected = isFresh && entry == read || isInCompactedPart
      isFresh = false
      firstBefore = None
      if (isExpected) Verdict.Skip else Verdict.Reject
    } else if (follows(entry) || entry <= provenTo) Verdict.Take
    else if (!isInCompactedPart) Verdict.Ask
    else if (session == this.session) Verdict.Take
    else Verdict.Reopen

  /** Decides about the entry that arrived, by the broker's response.
    *
    * @param newest
    *   the newest entry that had arrived when the request was sent
    * @param cursor
    *   the place of the cursor after that
    */
  def answered(entry: Position, newest: Position, cursor: Position): Verdict =
    if (cursor <= read) {
      provenTo = newest
      Verdict.Take
    } else if (isFresh && this.cursor > read)
      if (suspected.contains(read)) Verdict.Lost
      else {
        suspected = Some(read)
        Verdict.Reopen
      }
    else if (isFresh && firstBefore.contains(entry)) Verdict.Take
    else {
      firstBefore = Some(entry)
      Verdict.Reopen
    }

  /** The entry was handed out. */
  def took(entry: Position): Unit = {
    read = entry
    isFresh = false
  }

  private def isInCompactedPart: Boolean = readCompacted && read < cursor

  private def follows(entry: Position): Boolean = entry.ledgerId == read.ledgerId && entry.entryId == read.entryId + 1
}

private[pulsar] object ContinuityCheck {

  sealed trait Verdict

  object Verdict {

    /** Hand it out. */
    case object Take extends Verdict

    /** The entry is already read, and its repetition is expected. */
    case object Skip extends Verdict

    /** The entry is already read, and its repetition is an error. */
    case object Reject extends Verdict

    /** Request the cursor's position from the broker, then decide by [[ContinuityCheck.answered]]. */
    case object Ask extends Verdict

    /** Open the feed again after the last entry read. */
    case object Reopen extends Verdict

    /** Entries between the last one read and this one no longer exist. */
    case object Lost extends Verdict
  }
}
