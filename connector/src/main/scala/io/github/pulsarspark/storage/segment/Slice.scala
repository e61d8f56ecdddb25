package io.github.pulsarspark.storage.segment

import io.github.pulsarspark.format.Tier
import io.github.pulsarspark.position.{OffsetRange, Position}

/** A range of a topic partition and how it is read. */
private[pulsarspark] sealed abstract class Slice extends Product with Serializable {
  def topic: String
  def range: OffsetRange
  def level: Tier

  /** Entries that are read directly; None when the broker reads them. */
  def segment: Option[Segment]

  /** An estimate; 0 when the broker reads it. */
  def bytes: Long

  /** Reason why the broker reads it; empty if it does not. */
  def reason: String

  /** Machines on which it begins. */
  def hosts: Seq[String] = segment.toSeq.flatMap(s => s.location.hosts(s.first))

  /** Number of positions in the slice, some of which may be empty; None for several ledgers at once, which only the
    * broker reads.
    */
  def entries: Option[Long] = range.entries
}

private[pulsarspark] object Slice {

  /** A range that the broker reads. */
  final case class ByBroker(range: OffsetRange, reason: String = "") extends Slice {
    override def topic: String            = range.topic
    override def level: Tier              = Tier.Broker
    override def segment: Option[Segment] = None
    override def bytes: Long              = 0
  }

  /** A range of one ledger that is read directly. A driver may keep a million of them, so each is one object. */
  final case class Direct private (
      topic: String,
      ledgerId: Long,
      startEntry: Long,
      startBatch: Int,
      endEntry: Long,
      endBatch: Int,
      bytes: Long,
      location: SegmentLocation
  ) extends Slice {

    override def range: OffsetRange = OffsetRange(topic, start, Position(ledgerId, endEntry, endBatch))

    private def start = Position(ledgerId, startEntry, startBatch)

    override def level: Tier = location.level

    override def segment: Option[Segment] =
      Some(Segment(ledgerId, start.firstEntryAfter, endEntry, bytes, location))

    override def reason: String = ""
  }

  object Direct {

    def apply(range: OffsetRange, location: SegmentLocation, bytes: Long): Direct = {
      val (start, end) = (range.startExclusive, range.endInclusive)
      require(start.ledgerId == end.ledgerId, s"$range is in several ledgers")
      new Direct(range.topic, end.ledgerId, start.entryId, start.batchIndex, end.entryId, end.batchIndex, bytes,
        location)
    }
  }
}
