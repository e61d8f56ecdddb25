package io.github.pulsarspark.storage.segment

import io.github.pulsarspark.format.Tier

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
