package io.github.pulsarspark.storage

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.JsonNode

import io.github.pulsarspark.offsets.{OffsetRange, Position}

/** A ledger that takes no more entries.
  *
  * @param closedAt
  *   milliseconds since 1970 by the broker's clock; whatever the ledger holds was stored before
  */
private[storage] final case class ClosedLedger(id: Long, entries: Long, closedAt: Long)

/** The ledgers of a topic partition by age.
  *
  * @param closed
  *   in the order of their ids
  * @param newest
  *   the one behind them, which may still grow
  */
private[storage] final case class LedgerAges(closed: Seq[ClosedLedger], newest: Option[Long]) {

  /** The range without the ledgers at its start in which everything was published before `publishTime`, and how many these are.
    *
    * @param ahead
    *   by how many milliseconds a producer's clock may be ahead of the brokers'
    */
  def since(range: OffsetRange, publishTime: Long, ahead: Long): (OffsetRange, Long) = {
    val (old, young) = closed.span(_.closedAt < publishTime - ahead)
    val begin        = if (old.isEmpty) None else young.map(_.id).headOption.orElse(newest).map(Position(_, -1))
    begin.filter(_ > range.startExclusive) match {
      case Some(first) => (range.copy(startExclusive = first), old.count(isWanted(range, _)).toLong)
      case None        => (range, 0L)
    }
  }

  private def isWanted(range: OffsetRange, ledger: ClosedLedger): Boolean =
    Position(ledger.id, ledger.entries - 1) > range.startExclusive && Position(ledger.id, -1) < range.endInclusive
}

private[storage] object LedgerAges {

  /** Reads an `internal-info` answer. */
  def parse(info: JsonNode): LedgerAges = {
    val ledgers = info
      .path("ledgers")
      .asScala
      .map(l => ClosedLedger(l.path("ledgerId").asLong, l.path("entries").asLong, closedAt(l.path("timestamp").asLong)))
      .toSeq
      .sortBy(_.id)
    LedgerAges(ledgers.dropRight(1), ledgers.lastOption.map(_.id))
  }

  /** Without a time a ledger counts as new. */
  private def closedAt(timestamp: Long): Long = if (timestamp > 0) timestamp else Long.MaxValue
}
