package io.github.pulsarspark.storage.segment

import io.github.pulsarspark.position.{Interval, OffsetRange, Position, PruningBounds}
import io.github.pulsarspark.pulsar.admin.{JsonFields, LedgerSink}

/** A closed ledger.
  *
  * @param closedAt
  *   milliseconds since 1970 by the broker's clock; all entries of the ledger were stored before
  */
private[storage] final case class ClosedLedger(id: Long, entries: Long, closedAt: Long)

/** The ledgers of a topic partition by age.
  *
  * @param closed
  *   in the order of their ids
  * @param newest
  *   the ledger after them, which may still grow
  */
private[storage] final case class LedgerPruning(closed: Seq[ClosedLedger], newest: Option[Long]) {

  /** The newest counts as endless: how far it goes is for the range to say. */
  private val ledgers = closed ++ newest.map(ClosedLedger(_, Long.MaxValue, Long.MaxValue))

  /** The range without the ledgers outside the bounds at its start and at its end, and their number. It begins and ends
    * where there is something, for a position in a ledger that does not exist would count as data loss.
    *
    * @param ahead
    *   by how many milliseconds a producer's clock may be ahead of the brokers'
    */
  def narrow(range: OffsetRange, bounds: PruningBounds, ahead: Long): (OffsetRange, Long) = {
    val start = begin(range, bounds, ahead).filter(_ > range.startExclusive).getOrElse(range.startExclusive)
    val end   = last(range, bounds).filter(_ < range.endInclusive).getOrElse(range.endInclusive)
    val left  = OffsetRange(range.topic, start, end)
    (left, ledgers.count(l => holds(range, l) && !holds(left, l)).toLong)
  }

  /** Start of the range after pruning; None if nothing is skipped at the start. */
  private def begin(range: OffsetRange, bounds: PruningBounds, ahead: Long): Option[Position] = {
    val young = ledgers.dropWhile(l => isBefore(l.closedAt, bounds.times, ahead) || l.id < bounds.ledgers.fromInclusive)
    young.headOption match {
      case Some(first) if first.id == bounds.ledgers.fromInclusive =>
        Some(Position(first.id, inFront(bounds.entries.fromInclusive, first)))
      case Some(first) => Option.when(young.size < ledgers.size)(Position(first.id, -1))
      case None        => Option.when(ledgers.nonEmpty)(range.endInclusive)
    }
  }

  /** End of the range after pruning; None if nothing is skipped at the end. */
  private def last(range: OffsetRange, bounds: PruningBounds): Option[Position] = {
    val some = ledgers.filter(_.id < bounds.ledgers.toExclusive)
    some.filter(_.entries > 0).lastOption match {
      case Some(last) if last.id == bounds.ledgers.toExclusive - 1 =>
        Some(Position(last.id, math.max(0, inFront(bounds.entries.toExclusive, last))))
      case Some(last) => Option.when(some.size < ledgers.size)(Position(last.id, last.entries - 1))
      case None       => Option.when(some.size < ledgers.size)(range.startExclusive)
    }
  }

  /** The entry before `entryId`, as far as the ledger has it. */
  private def inFront(entryId: Long, ledger: ClosedLedger): Long = math.min(math.max(entryId, 0L), ledger.entries) - 1

  private def isBefore(closedAt: Long, times: Interval, ahead: Long): Boolean =
    times.fromInclusive != Long.MinValue && closedAt < times.fromInclusive - ahead

  private def holds(range: OffsetRange, ledger: ClosedLedger): Boolean =
    !range.isEmpty && Position(ledger.id, ledger.entries - 1) > range.startExclusive &&
      Position(ledger.id, -1) < range.endInclusive
}

private[storage] object LedgerPruning {

  /** Parses an `internal-info` response. */
  final class Reader extends LedgerSink[LedgerPruning] {
    private val ledgers = Vector.newBuilder[ClosedLedger]

    override def ledger(fields: JsonFields): Unit = {
      val closedAt = fields.long("timestamp")
      // Without a time a ledger counts as new.
      ledgers +=
        ClosedLedger(fields.long("ledgerId"), fields.long("entries"), if (closedAt > 0) closedAt else Long.MaxValue)
    }

    override def end(fields: JsonFields): LedgerPruning = {
      val all = ledgers.result().sortBy(_.id)
      LedgerPruning(all.dropRight(1), all.lastOption.map(_.id))
    }
  }
}
