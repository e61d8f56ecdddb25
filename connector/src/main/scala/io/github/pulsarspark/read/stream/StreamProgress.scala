package io.github.pulsarspark.read.stream

import java.time.Instant

import scala.collection.immutable.SortedMap

import io.github.pulsarspark.errors.Occurrence
import io.github.pulsarspark.position.{PartitionBounds, Position, PulsarOffset}
import io.github.pulsarspark.pulsar.topics.{TopicLosses, TopicNames}

/** Computes the end of the next micro-batch. Pure. An offset never moves backwards, unless a partition was created
  * again.
  */
private[read] object StreamProgress {

  /** Partitions whose last readable message is before the position read, with that position. That alone proves nothing:
    * a topic may end with markers, and compaction may have removed its last message.
    */
  def behind(read: PulsarOffset, bounds: Map[String, PartitionBounds]): Map[String, Position] =
    known(read).filter {
      case (partition, position) => bounds.get(partition).exists(_.last < position)
    }

  private def known(read: PulsarOffset) =
    if (read.missing.isEmpty) read.positions else read.missing ++ read.positions

  /** Losses in partitions that were read. Each is reported in one micro-batch only.
    *
    * @param ended
    *   partitions of which the broker confirms that they end before what was read
    * @param created
    *   when partitions were created again
    * @param isSelected
    *   whether the options select a topic, which those of an earlier start may have done alone
    */
  def losses(
      read: PulsarOffset,
      bounds: Map[String, PartitionBounds],
      ended: Set[String],
      created: Map[String, Instant] = Map.empty,
      isSelected: String => Boolean = _ => true
  ): Seq[Occurrence] = {
    lazy val topics = bounds.keySet.map(TopicNames.whole)
    read.positions.toSeq.collect {
      case (partition, position) if !bounds.contains(partition) && !isSelected(partition) =>
        TopicLosses.deselected(partition, position, End)
      case (partition, position) if !bounds.contains(partition) =>
        TopicLosses.deleted(partition, position, End, Some(topics(TopicNames.whole(partition))))
      case (partition, position) if ended(partition) =>
        TopicLosses.endsBefore(partition, position, End, bounds(partition).last)
      case (partition, position) if created.contains(partition) =>
        TopicLosses.recreated(partition, position, bounds(partition).first, created(partition))
    }
  }

  /** End of a loss at the end of a topic, whose last position is unknown. */
  private val End = "its end"

  /** The bounds with last messages that are known, where a broker names earlier ones.
    *
    * @param known
    *   positions up to which partitions go
    * @param ended
    *   partitions that do not have what was read of them
    */
  def upTo(
      known: Option[PulsarOffset],
      bounds: Map[String, PartitionBounds],
      ended: Set[String]
  ): Map[String, PartitionBounds] =
    known.fold(bounds)(offset =>
      bounds.map { case (p, b) =>
        p -> offset.positions.get(p).filter(at => at > b.last && !ended(p)).fold(b)(at => b.copy(last = at))
      }
    )

  /** The end of everything in each partition that exists now.
    *
    * @param read
    *   what the stream has read
    * @param bounds
    *   what the partitions that exist now hold
    * @param recreated
    *   partitions that were created again, or of which the broker confirms that they end before what was read
    * @return
    *   `read` itself when there is nothing new
    */
  def next(read: PulsarOffset, bounds: Map[String, PartitionBounds], recreated: Set[String]): PulsarOffset =
    if (recreated.isEmpty && isUnchanged(read, bounds)) read else moved(read, bounds, recreated)

  /** True if nothing is new, as at most triggers of a stream over thousands of partitions. */
  private def isUnchanged(read: PulsarOffset, bounds: Map[String, PartitionBounds]): Boolean =
    bounds.size == read.positions.size && bounds.forall { case (partition, b) =>
      read.positions.get(partition).exists(at => b.last <= at && !b.emptyAfter.contains(at))
    }

  private def moved(read: PulsarOffset, bounds: Map[String, PartitionBounds], recreated: Set[String]): PulsarOffset = {
    val added = bounds.flatMap { case (partition, b) => newStart(partition, b, read, recreated).map(partition -> _) }
    val positions = bounds.map { case (partition, b) =>
      partition ->
        (added.get(partition).toSeq ++ read.positions.get(partition).filterNot(_ => added.contains(partition)) :+
          b.last).max
    }
    val missing = known(read).filterNot { case (partition, _) => bounds.contains(partition) }
    if (SortedMap.from(positions) == read.positions) read
    else PulsarOffset(SortedMap.from(positions), SortedMap.from(added), newest(missing))
  }

  /** Position from which a partition is read, if it is not the one read last. */
  private def newStart(
      partition: String,
      b: PartitionBounds,
      read: PulsarOffset,
      recreated: Set[String]
  ): Option[Position] =
    read.positions.get(partition) match {
      case Some(at) => Option.when(recreated(partition) || b.emptyAfter.contains(at))(b.first)
      case None     =>
        Some(read.missing.get(partition).filter(at => at >= b.first && !recreated(partition)).getOrElse(b.first))
    }

  /** The newest of the missing partitions, by ledger id, which grows with time. Partitions that are deleted for good
    * need not be remembered for ever.
    */
  private def newest(missing: SortedMap[String, Position]): SortedMap[String, Position] =
    if (missing.size <= MaxMissing) missing else SortedMap.from(missing.toSeq.sortBy(_._2).takeRight(MaxMissing))

  private val MaxMissing = 1000

  /** Ends of `latest`, at most `limit`. Partitions that the limit does not know stay where they were. */
  def within(limit: PulsarOffset, read: PulsarOffset, latest: PulsarOffset): PulsarOffset =
    if (latest.positions == read.positions) read // whose `added` are of the batch before
    else {
      val positions = latest.positions.flatMap { case (partition, end) =>
        val start = latest.added.get(partition).orElse(read.positions.get(partition))
        limit.positions.get(partition) match {
          case Some(most) => Some(partition -> (start.toSeq :+ Seq(end, most).min).max)
          case None       => read.positions.get(partition).map(partition -> _)
        }
      }
      PulsarOffset(
        positions,
        latest.added.filter { case (partition, _) => limit.positions.contains(partition) },
        newest((read.missing ++ latest.missing).filterNot { case (partition, _) => positions.contains(partition) })
      )
    }
}
