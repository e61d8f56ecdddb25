package io.github.pulsarspark.storage

import org.slf4j.LoggerFactory

import io.github.pulsarspark.options.ReadOptions
import io.github.pulsarspark.position.{OffsetRange, PruningBounds}
import io.github.pulsarspark.storage.segment.Slice

/** A range to read.
  *
  * @param filters
  *   bounds on the messages that pass the filters of the query
  * @param bounds
  *   the same, by all that limits the read
  */
private[pulsarspark] final case class RequestedRange(range: OffsetRange, filters: PruningBounds, bounds: PruningBounds)

/** Division of ranges into tasks.
  *
  * @param tasks
  *   the slices of each task, in order
  * @param ledgersSkipped
  *   ledgers at the start and end of ranges that hold nothing the filters accept
  */
private[pulsarspark] final case class SegmentPlan(tasks: Seq[Seq[Slice]], ledgersSkipped: Long)

private[pulsarspark] object SegmentPlan {

  private val log = LoggerFactory.getLogger(getClass)

  /** Narrows ranges, cuts them into slices and divides those into tasks.
    *
    * A batch read is divided into tasks of about one size, which read a topic partition at the same time. A stream
    * keeps the order of each topic partition, unless `minPartitions` asks for more tasks.
    *
    * @param tail
    *   of a stream, see [[SegmentLocator.slices]]
    * @param parallelism
    *   tasks that the cluster runs at a time
    */
  def of(
      ranges: Seq[RequestedRange],
      locator: SegmentLocator,
      options: ReadOptions,
      tail: Option[StreamTail],
      parallelism: Int
  ): SegmentPlan = {
    val narrowed  = locator.narrow(ranges.map(r => r.range -> r.filters))
    val remaining = ranges.zip(narrowed).collect {
      case (requested, (range, _)) if !range.isEmpty && !requested.bounds.isEmpty => range
    }
    val slices = locator.slices(remaining, tail)
    val bytes  = TaskPacker.taskBytes(slices.iterator.map(_.bytes).sum, options.maxBytesPerPartition,
      options.minPartitions, parallelism)
    if (bytes > options.maxBytesPerPartition)
      log.warn(s"Each task reads about $bytes bytes, more than maxBytesPerPartition=${options.maxBytesPerPartition}: " +
        "that would be too many tasks for one read")
    val tasks =
      if (tail.isDefined && options.minPartitions.isEmpty) TaskPacker.inOrder(slices, bytes)
      else {
        val starts = locator.starts(slices.flatMap(_.segment.filter(TaskPacker.isCut(_, bytes))))
        TaskPacker.tasks(slices, bytes, s => starts.getOrElse(s.ledgerId, Nil))
      }
    SegmentPlan(tasks, narrowed.map(_._2).sum)
  }
}
