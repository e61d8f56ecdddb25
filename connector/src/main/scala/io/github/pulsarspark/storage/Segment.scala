package io.github.pulsarspark.storage

import io.github.pulsarspark.offsets.OffsetRange

/** Where the entries of a ledger are read. */
private[pulsarspark] sealed trait SegmentHome extends Serializable {
  def level: Level

  /** Names or addresses of the machines that have an entry, as far as they can be known. */
  def hosts(entry: Long): Seq[String]
}

private[pulsarspark] object SegmentHome {
  final case class Bookies(ledger: BookieLedger) extends SegmentHome {
    override def level: Level                    = Level.Bookies
    override def hosts(entry: Long): Seq[String] = ledger.ensembleOf(entry)._1.map(BookieLedger.hostOf).distinct
  }

  final case class Tiered(ledger: OffloadedLedger) extends SegmentHome {
    override def level: Level                    = Level.Tiered
    override def hosts(entry: Long): Seq[String] = Nil
  }
}

/** Consecutive entries of one ledger, to be read past the broker.
  *
  * @param bytes
  *   an estimate
  */
private[pulsarspark] final case class Segment(ledgerId: Long, first: Long, last: Long, bytes: Long, home: SegmentHome)

/** A range of a topic partition and how it is read.
  *
  * @param segment
  *   None when the broker reads it
  * @param reason
  *   why the broker does
  */
private[pulsarspark] final case class Slice(range: OffsetRange, segment: Option[Segment], reason: String = "") {
  def level: Level = segment.fold[Level](Level.Broker)(_.home.level)

  /** Machines on which it begins. */
  def hosts: Seq[String] = segment.toSeq.flatMap(s => s.home.hosts(s.first))

  /** How many positions it has, some of which may be empty; None for several ledgers at once, which only the broker reads. */
  def entries: Option[Long] = segment.map(s => s.last - s.first + 1).orElse {
    val (start, end) = (range.startExclusive, range.endInclusive)
    val first        = if (start.isWholeEntry) start.entryId + 1 else start.entryId
    Option.when(start.ledgerId == end.ledgerId)(end.entryId - first + 1)
  }
}
