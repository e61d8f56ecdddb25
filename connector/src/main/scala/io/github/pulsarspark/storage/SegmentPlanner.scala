package io.github.pulsarspark.storage

import io.github.pulsarspark.position.{OffsetRange, Position}
import io.github.pulsarspark.storage.segment.{SegmentLocation, Slice, StoredLedger, TopicStorage}

/** Cuts ranges of a topic partition along its ledgers. Pure. */
private[pulsarspark] object SegmentPlanner {

  /** The slices of a range, in order and without a gap: each is one ledger, or a part that the broker has to read.
    *
    * @param locate
    *   where a ledger is read; Left: why only the broker can read it
    */
  private[storage] def slices(
      range: OffsetRange,
      storage: TopicStorage,
      locate: StoredLedger => Either[String, SegmentLocation]
  ): Seq[Slice] =
    if (storage.get(range.startExclusive.ledgerId).isEmpty) {
      val reason = unlisted("starts", range.startExclusive.ledgerId)
      firstListed(range, storage) match {
        case None        => Seq(Slice.ByBroker(range, reason))
        case Some(begin) =>
          slices(range.copy(startExclusive = begin), storage, locate)
            .foldLeft(Vector[Slice](Slice.ByBroker(range.copy(endInclusive = begin), reason)))(append)
      }
    } else {
      val unknown      = unconfirmed(range, storage)
      val listed       = unknown.fold(range) { case (last, _) => range.copy(endInclusive = last) }
      val ledgers      = if (listed.isEmpty) Nil else storage.within(listed)
      val (done, from) = ledgers.foldLeft((Vector.empty[Slice], range.startExclusive)) {
        case ((done, from), ledger) =>
          slice(listed, storage, ledger, locate).fold((done, from))(s => (append(done, s), s.range.endInclusive))
      }
      unknown.fold(done) { case (_, reason) => append(done, Slice.ByBroker(range.copy(startExclusive = from), reason)) }
    }

  /** Start of the first existing ledger, if the range starts before it. Earlier entries are deleted or never existed;
    * the broker shows which.
    */
  private def firstListed(range: OffsetRange, storage: TopicStorage): Option[Position] =
    storage.listed.map { case (first, _) => Position(first, -1) }.filter(begin =>
      range.startExclusive < begin && begin < range.endInclusive && storage.get(begin.ledgerId).nonEmpty
    )

  private def unlisted(place: String, ledgerId: Long) =
    s"ledger $ledgerId, in which the range $place, is not in the topic's list of ledgers"

  /** The last entry up to which the list of ledgers is enough, and why it is not enough for the rest of the range; None
    * when it is enough for all of the range.
    */
  private def unconfirmed(range: OffsetRange, storage: TopicStorage): Option[(Position, String)] = {
    val end           = range.endInclusive
    val ends          = storage.within(range).map(l => l -> storage.lastEntry(l))
    val (known, rest) = ends.span(_._2.nonEmpty)
    val last          = known.lastOption.fold(range.startExclusive) { case (l, e) => Position(l.id, e.getOrElse(-1L)) }
    if (rest.nonEmpty) Some((last, s"the end of ledger ${rest.head._1.id} is not known"))
    else if (storage.get(end.ledgerId).isEmpty) Some((last, unlisted("ends", end.ledgerId)))
    else Option.when(last.entryId < end.entryId)((
      last,
      s"its end ${end.wholeEntry} is not confirmed by the list of ledgers, which goes to ${storage.lastConfirmed}"
    ))
  }

  /** Slice of a ledger; None if the range has nothing of it. A slice starts with its ledger. If it started at the last
    * entry of the previous ledger, which may be trimmed before the task runs, it would report that as a loss.
    */
  private def slice(
      range: OffsetRange,
      storage: TopicStorage,
      ledger: StoredLedger,
      locate: StoredLedger => Either[String, SegmentLocation]
  ): Option[Slice] = {
    val (start, end) = (range.startExclusive, range.endInclusive)
    val isFirst      = ledger.id == start.ledgerId
    val first        = range.firstEntry(ledger.id)
    val until = if (ledger.id == end.ledgerId) Some(end) else storage.lastEntry(ledger).map(Position(ledger.id, _))
    val begin = if (isFirst) start else Position(ledger.id, -1)
    until.filter(_.entryId >= first).map { last =>
      val part = OffsetRange(range.topic, begin, last)
      locate(ledger) match {
        case Left(reason) => Slice.ByBroker(part, reason)
        case Right(where) => Slice.Direct(part, where, (last.entryId - first + 1) * storage.entryBytes(ledger))
      }
    }
  }

  /** Neighbours that the broker reads are one. */
  private def append(done: Vector[Slice], next: Slice): Vector[Slice] = done.lastOption match {
    case Some(before: Slice.ByBroker) if next.segment.isEmpty =>
      done.init :+ before.copy(range = before.range.copy(endInclusive = next.range.endInclusive))
    case _ => done :+ next
  }
}
