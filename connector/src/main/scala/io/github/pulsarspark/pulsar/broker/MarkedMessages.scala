package io.github.pulsarspark.pulsar.broker

import scala.util.Using

import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.format.{EntryIdentity, RangeGuard}
import io.github.pulsarspark.options.ReadOptions
import io.github.pulsarspark.position.{OffsetRange, PartitionBounds, Position, PositionMark}

/** Marks of messages, and whether a topic partition has them. Needs no right but that to read.
  *
  * @param broker
  *   not of the compacted view, which lacks messages
  */
private[pulsarspark] final class MarkedMessages(options: ReadOptions, broker: BrokerApi) {
  import MarkedMessages._

  private val single = options.copy(readAheadMessages = 1, failOnDataLoss = false, readCompacted = false,
    pollTimeout = options.client.operationTimeout)

  /** Marks the message at a position, or the first one after the beginning of a ledger. None where that does not exist.
    */
  def take(partition: String, at: Position): Option[PositionMark] =
    for {
      bounds           <- boundsOf(partition)
      (entry, message) <- first(partition, if (at.isBeforeLedger) at else at.wholeEntry.preceding, bounds.last)
      if at.isBeforeLedger || entry == at.wholeEntry
      origin <- message
    } yield PositionMark(entry, origin.publishTime, origin.digest)

  /** Compares a mark with what the topic partition has there. Ledger ids grow, and are never used again in a cluster:
    * messages before the first one are deleted, and every other message is where it was.
    */
  def find(partition: String, mark: PositionMark): Finding = {
    val at = mark.position
    boundsOf(partition) match {
      case None                     => Finding.Unknown
      case Some(b) if at <= b.first => Finding.Unknown
      case Some(b) if b.last < at   => if (isOlder(partition, at, b)) Finding.OlderLedger(b.last) else Finding.Unknown
      case Some(b)                  =>
        first(partition, at.preceding, b.last) match {
          case Some((`at`, Some(origin))) =>
            val isSame = origin.publishTime == mark.publishTime && origin.digest == mark.digest
            if (isSame) Finding.Same else Finding.AnotherMessage(origin.publishTime)
          case Some((entry, _)) if entry.ledgerId != at.ledgerId => Finding.NoMessage(entry)
          case _                                                 => Finding.Unknown
        }
    }
  }

  /** True if the partition ends in a ledger before that of a position. A topic that is being unloaded may respond so.
    */
  private def isOlder(partition: String, at: Position, bounds: PartitionBounds) =
    bounds.last.ledgerId < at.ledgerId && broker.endingBefore(Map(partition -> at)).contains(partition)

  private def boundsOf(partition: String) = broker.bounds(Seq(partition)).get(partition)

  private def first(partition: String, after: Position, last: Position): Option[(Position, Option[EntryIdentity])] = {
    val range = OffsetRange(partition, after, last)
    if (range.isEmpty) None
    else
      try Using.resource(BrokerEntrySource(range, single, new RangeGuard(range), "driver")) { source =>
          Option.when(source.next())(Position(source.ledgerId, source.entryId) -> EntryIdentity.of(source.entry))
        }
      catch { case e: Exception if Conditions.ReadTimeout.is(e) => None } // nothing there may be sent to readers
  }
}

private[pulsarspark] object MarkedMessages {

  /** Answer of a topic partition to a mark. */
  sealed trait Finding

  object Finding {

    /** The message itself. */
    case object Same extends Finding

    /** Undecided: the message may be deleted. */
    case object Unknown extends Finding

    /** A message that was published at another time, or by another producer. */
    final case class AnotherMessage(publishTime: Long) extends Finding

    /** No message there, nor in the rest of its ledger, but one in a later ledger. */
    final case class NoMessage(next: Position) extends Finding

    /** The end of the topic partition, in an earlier ledger. */
    final case class OlderLedger(last: Position) extends Finding
  }
}
