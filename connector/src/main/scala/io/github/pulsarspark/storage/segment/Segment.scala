package io.github.pulsarspark.storage.segment

import io.github.pulsarspark.format.Tier
import io.github.pulsarspark.position.OffsetRange

/** Location of a ledger that is read without the broker: all that a task needs to read it. Each [[SegmentStore]] has
  * its own type.
  */
private[pulsarspark] trait SegmentLocation extends Serializable {
  def level: Tier

  /** Names or addresses of the machines that have an entry, as far as they are known. */
  def hosts(entry: Long): Seq[String]
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
    location: SegmentLocation
)

/** A range of a topic partition and how it is read.
  *
  * @param segment
  *   None when the broker reads it
  * @param reason
  *   why the broker does
  */
private[pulsarspark] final case class Slice(range: OffsetRange, segment: Option[Segment], reason: String = "") {
  def level: Tier = segment.fold[Tier](Tier.Broker)(_.location.level)

  /** Machines on which it begins. */
  def hosts: Seq[String] = segment.toSeq.flatMap(s => s.location.hosts(s.first))

  /** Number of positions in the slice, some of which may be empty; None for several ledgers at once, which only the
    * broker reads.
    */
  def entries: Option[Long] = segment.map(s => s.last - s.first + 1).orElse(range.entries)
}
