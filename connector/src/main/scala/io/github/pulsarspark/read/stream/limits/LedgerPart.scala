package io.github.pulsarspark.read.stream.limits

import scala.annotation.tailrec

import io.github.pulsarspark.format.EntryIndex
import io.github.pulsarspark.position.Position

/** The part of one ledger that a range covers, with broker indexes: the difference of two indexes is a number of
  * messages. Never compare indexes across ledgers: the broker continues its count in the next ledger, but the
  * interceptor may have been off in between.
  *
  * @param read
  *   how many messages of the first entry are before the range
  */
private[stream] final case class LedgerPart(
    ledgerId: Long,
    first: LedgerPart.Entry,
    read: Int,
    last: LedgerPart.Entry
) {
  import LedgerPart._

  private val before = first.index.before + read

  /** Messages up to an entry, or more: something that is no message has an index, too. */
  private def count(entry: Entry): Long = entry.index.last - before

  /** Number of messages in the part. */
  def messages: Long = count(last)

  def end: Position = Position(ledgerId, last.id)

  /** Finds the end position after at most `most` messages.
    *
    * @param most
    *   1 to [[messages]]
    * @param enough
    *   any end with at least this many messages is accepted
    * @param indexOf
    *   of another entry; None when it cannot be known
    * @return
    *   with the number of messages up to it
    */
  def end(most: Long, enough: Long, indexOf: Long => Option[EntryIndex]): (Position, Long) =
    if (count(last) <= most) (end, messages)
    else if (count(first) > most) inside(first, read, most)
    else search(first, last, most, enough, indexOf, 0)

  /** @param low
    *   an entry up to which there are at most `most` messages
    * @param high
    *   one up to which there are more
    */
  @tailrec
  private def search(
      low: Entry,
      high: Entry,
      most: Long,
      enough: Long,
      indexOf: Long => Option[EntryIndex],
      reads: Int
  ): (Position, Long) =
    if (count(low) >= enough) at(low)
    else if (high.id - low.id == 1) {
      val (end, messages) = inside(high, 0, most - count(low))
      (end, count(low) + messages)
    } else {
      val share = BigInt(most - count(low)) * (high.id - low.id) / (count(high) - count(low))
      val guess = if (reads < Guesses) low.id + share.toLong else (low.id + high.id) / 2
      val next  = math.min(high.id - 1, math.max(low.id + 1, guess))
      indexOf(next).map(Entry(next, _)) match {
        case Some(entry) if count(entry) <= most => search(entry, high, most, enough, indexOf, reads + 1)
        case Some(entry)                         => search(low, entry, most, enough, indexOf, reads + 1)
        case None                                => at(low)
      }
    }

  private def at(entry: Entry) = (Position(ledgerId, entry.id), count(entry))

  /** The end of the next `most` messages of a batch, of which `read` are passed. */
  private def inside(batch: Entry, read: Int, most: Long): (Position, Long) = {
    val taken = math.min(most, (batch.index.messages - read).toLong).toInt
    val end   = Position(ledgerId, batch.id)
    (if (read + taken == batch.index.messages) end else end.copy(batchIndex = read + taken - 1), taken.toLong)
  }
}

private[stream] object LedgerPart {

  /** The entries that are read of a part. */
  def samples(first: Long, last: Long): Seq[Long] =
    Seq(first, math.min(first + 1, last), last - 1, last).filter(_ >= first).distinct

  /** Builds the part of a ledger. None if an entry has no index, if indexes do not match the numbers of messages (a
    * producer may send wrong ones), or if nothing is left to read.
    *
    * @param read
    *   how many messages of the first entry are before the range
    * @param indexOf
    *   one of the samples
    */
  def apply(
      ledgerId: Long,
      first: Long,
      last: Long,
      read: Int,
      indexOf: Long => Option[EntryIndex]
  ): Option[LedgerPart] = {
    val entries = samples(first, last).map(entry => indexOf(entry).map(Entry(entry, _)))
    if (entries.exists(_.isEmpty)) None
    else {
      val known      = entries.flatten
      val part       = LedgerPart(ledgerId, known.head, read, known.last)
      val neighbours = known.zip(known.drop(1)).filter { case (a, b) => b.id == a.id + 1 }
      val fit        = neighbours.forall { case (a, b) => b.index.before == a.index.last }
      Option.when(fit && read < known.head.index.messages && part.messages > last - first)(part)
    }
  }

  /** An entry of the ledger. */
  final case class Entry(id: Long, index: EntryIndex)

  /** Attempts that expect batches of one size; then the distance is halved. */
  private val Guesses = 8
}
