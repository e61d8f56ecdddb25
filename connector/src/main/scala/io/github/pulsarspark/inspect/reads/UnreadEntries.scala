package io.github.pulsarspark.inspect.reads

import io.github.pulsarspark.inspect.topics.SelectedTopics
import io.github.pulsarspark.position.{Interval, OffsetRange, PartitionBounds, Position, PulsarOffset}
import io.github.pulsarspark.read.stream.lag.Backlog
import io.github.pulsarspark.storage.segment.TopicStorage

/** Finds what topic partitions hold after the positions up to which they are read.
  *
  * @param bounds
  *   of the partitions that exist
  * @param isCompacted
  *   whether the compacted view is read, which lacks an unknown number of entries
  * @param withSizes
  *   whether to request the ledgers, which show the entries of several of them, and bytes
  */
private[reads] final class UnreadEntries(
    selected: SelectedTopics,
    read: PulsarOffset,
    bounds: Map[String, PartitionBounds],
    isCompacted: Boolean,
    withSizes: Boolean
) {
  private val behind: Map[String, OffsetRange] = backlog((_, _, _) => None).behind.map(b =>
    b.partition -> OffsetRange(b.partition, b.from, bounds(b.partition).last)
  ).toMap

  private val storage: Map[String, TopicStorage] =
    if (behind.isEmpty || !withSizes) Map.empty
    else selected.admin.fold(Map.empty[String, TopicStorage])(_.ofExisting(behind.map { case (p, range) =>
      p -> Interval(range.startExclusive.ledgerId, Long.MaxValue)
    }))

  private val counted = backlog((p, from, to) => storage.get(p).flatMap(_.entriesBetween(from, to))).behind.map(b =>
    b.partition -> b.entries
  ).toMap

  private def backlog(between: (String, Long, Long) => Option[(Long, Long)]) =
    Backlog.of(read, bounds, isCompacted, between)

  /** The unread ranges. */
  def ranges: Seq[OffsetRange] = behind.values.toSeq

  def exists(partition: String): Boolean   = bounds.contains(partition)
  def isBehind(partition: String): Boolean = behind.contains(partition)

  /** Position up to which everything is read. */
  def from(partition: String): Option[Position] =
    (read.positions.get(partition) ++ bounds.get(partition).map(_.first)).maxOption

  /** Position of the last entry with messages. */
  def last(partition: String): Option[Position] = bounds.get(partition).filter(b => b.first < b.last).map(_.last)

  /** Unread entries, also markers; None if they are not known. */
  def entries(partition: String): Option[Long] =
    if (isBehind(partition)) counted(partition) else Option.when(exists(partition))(0L)

  /** Estimate of the unread bytes; None if it is not known. */
  def bytes(partition: String): Option[Long] = behind.get(partition) match {
    case None        => Option.when(exists(partition))(0L)
    case Some(range) => storage.get(partition).map(s => s.within(range).map(s.bytesWithin(range, _)).sum)
  }
}
