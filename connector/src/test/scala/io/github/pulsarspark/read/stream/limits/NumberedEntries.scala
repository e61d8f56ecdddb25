package io.github.pulsarspark.read.stream.limits

import scala.collection.mutable

import io.github.pulsarspark.format.{EntryIndex, Tier}
import io.github.pulsarspark.position.{OffsetRange, Position}
import io.github.pulsarspark.storage.ClosedLedgers
import io.github.pulsarspark.storage.segment.{Segment, SegmentLocation}

/** A topic partition whose broker numbers messages: ledgers 10, 20, ... of batches of these sizes, the last of which is
  * being written.
  *
  * @param without
  *   entries without an index
  */
private[limits] final class NumberedEntries(ledgers: Seq[Seq[Int]], without: Set[Position] = Set.empty) {
  import NumberedEntries._

  val entries: Seq[(Position, Int)] = ledgers.zipWithIndex.flatMap { case (sizes, i) =>
    sizes.zipWithIndex.map { case (size, entry) => Position(10L * (i + 1), entry.toLong) -> size }
  }

  private val indexes: Map[Position, EntryIndex] = entries.zip(entries.scanLeft(-1L)(_ + _._2).tail).collect {
    case ((position, size), last) if !without(position) => position -> EntryIndex(last, size)
  }.toMap

  /** Entries that were read, and what was opened and not closed. */
  val read: mutable.Buffer[Position] = mutable.Buffer.empty
  var open                           = 0

  /** Entries that cannot be read. */
  var failing: Set[Position] = Set.empty

  /** The first ledger of a range, and those after it until they have so many bytes, [[MessageBytes]] for a message. */
  def closed(range: OffsetRange, bytes: Long): ClosedLedgers = synchronized {
    open += 1
    new ClosedLedgers {
      private val all = entries
        .filter { case (p, _) => p > range.startExclusive && p.ledgerId < range.endInclusive.ledgerId }
        .groupBy(_._1.ledgerId).toSeq.sortBy(_._1).map { case (id, some) =>
          Segment(id, some.head._1.entryId, some.last._1.entryId, some.map(_._2).sum * MessageBytes, Nowhere)
        }

      override val segments: Seq[Segment] =
        all.take(all.drop(1).scanLeft(0L)(_ + _.bytes).takeWhile(_ < bytes).size + 1)

      override def indexes(places: Seq[Position]): Seq[Option[EntryIndex]] = NumberedEntries.this.synchronized {
        places.map { place =>
          if (failing(place)) throw new IllegalStateException(s"no entry at $place")
          read += place
          NumberedEntries.this.indexes.get(place)
        }
      }

      override def close(): Unit = NumberedEntries.this.synchronized(open -= 1)
    }
  }

  def last: Position = entries.last._1

  /** Messages behind one position, up to another. */
  def between(from: Position, to: Position): Long = upTo(to) - upTo(from)

  private def upTo(end: Position): Long = entries.takeWhile(_._1.preceding < end).map { case (entry, size) =>
    if (entry <= end) size.toLong else end.batchIndex + 1L
  }.sum
}

private[limits] object NumberedEntries {
  val MessageBytes = 10L

  private object Nowhere extends SegmentLocation {
    override def level: Tier                     = Tier.Bookies
    override def hosts(entry: Long): Seq[String] = Nil
  }
}
