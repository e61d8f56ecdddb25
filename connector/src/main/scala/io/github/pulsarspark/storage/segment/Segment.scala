package io.github.pulsarspark.storage.segment

import io.github.pulsarspark.format.Tier
import io.github.pulsarspark.position.OffsetRange

/** Where the entries of a ledger are read. */
private[pulsarspark] sealed trait SegmentLocation extends Serializable {
  def level: Tier

  /** Names or addresses of the machines that have an entry, as far as they can be known. */
  def hosts(entry: Long): Seq[String]
}

private[pulsarspark] object SegmentLocation {
  final case class Bookies(ledger: BookieLedger) extends SegmentLocation {
    override def level: Tier                     = Tier.Bookies
    override def hosts(entry: Long): Seq[String] = ledger.ensembleOf(entry)._1.map(BookieLedger.hostOf).distinct
  }

  final case class Tiered(ledger: OffloadedLedger) extends SegmentLocation {
    override def level: Tier                     = Tier.Tiered
    override def hosts(entry: Long): Seq[String] = Nil
  }
}

/** Consecutive entries of one ledger, for a direct read.
  *
  * @param bytes
  *   an estimate
  */
private[pulsarspark] final case class Segment(
    ledgerId: Long,
    first: Long,
    last: Long,
    bytes: Long,
    home: SegmentLocation
)

/** A range of a topic partition and how it is read.
  *
  * @param segment
  *   None when the broker reads it
  * @param reason
  *   why the broker does
  */
private[pulsarspark] final case class Slice(range: OffsetRange, segment: Option[Segment], reason: String = "") {
  def level: Tier = segment.fold[Tier](Tier.Broker)(_.home.level)

  /** Machines on which it begins. */
  def hosts: Seq[String] = segment.toSeq.flatMap(s => s.home.hosts(s.first))

  /** How many positions it has, some of which may be empty; None for several ledgers at once, which only the broker
    * reads.
    */
  def entries: Option[Long] = segment.map(s => s.last - s.first + 1).orElse {
    val (start, end) = (range.startExclusive, range.endInclusive)
    val first        = if (start.isWholeEntry) start.entryId + 1 else start.entryId
    Option.when(start.ledgerId == end.ledgerId)(end.entryId - first + 1)
  }
}
