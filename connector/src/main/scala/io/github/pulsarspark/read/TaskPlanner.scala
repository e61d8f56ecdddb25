package io.github.pulsarspark.read

import org.slf4j.LoggerFactory

import io.github.pulsarspark.offsets.OffsetRange
import io.github.pulsarspark.options.ReadOptions
import io.github.pulsarspark.storage.{Level, SegmentPlanner, Slice}

/** Shares out ranges among tasks. */
private[read] object TaskPlanner {
  private val log = LoggerFactory.getLogger(getClass)

  /** @param slicesOf
    *   cuts ranges by where their entries are
    * @param parallelism
    *   tasks that the cluster runs at a time
    */
  def partitions(
      ranges: Seq[PlannedRange],
      options: ReadOptions,
      parallelism: Int,
      slicesOf: Seq[OffsetRange] => Seq[Slice]
  ): Seq[PulsarInputPartition] = {
    val byTopic = ranges.map(r => r.range.topic -> r).toMap
    val slices  = slicesOf(ranges.map(_.range))
    val total   = slices.flatMap(_.segment).map(_.bytes).sum
    val bytes   = SegmentPlanner.taskBytes(total, options.maxBytesPerPartition, options.minPartitions, parallelism)
    val cut     = slices.flatMap(SegmentPlanner.cut(_, bytes)).map { slice =>
      val planned = byTopic(slice.range.topic)
      PlannedSlice(slice, planned.times, planned.schema)
    }
    logReasons(slices)
    SegmentPlanner.pack(cut, bytes)(_.slice.segment.map(_.bytes)).map(group => PulsarInputPartition(group, group.head.slice.hosts))
  }

  /** Tasks, and how many slices are read from where. */
  def summary(partitions: Seq[PulsarInputPartition]): String = {
    val slices  = partitions.flatMap(_.slices).map(_.slice)
    val byLevel = Level.all.flatMap { level =>
      val here = slices.filter(_.level == level)
      Option.when(here.nonEmpty) {
        val bytes = here.flatMap(_.segment).map(_.bytes).sum
        s"${here.size} ${level.name}" + (if (bytes > 0) s" ${(bytes + (1L << 20) - 1) / (1L << 20)} MiB" else "")
      }
    }
    s"${partitions.size} tasks, slices: ${if (byLevel.isEmpty) "none" else byLevel.mkString(", ")}"
  }

  private def logReasons(slices: Seq[Slice]): Unit = {
    val reasons = slices.filter(_.segment.isEmpty).groupMapReduce(_.reason)(_ => 1)(_ + _)
    if (reasons.nonEmpty)
      log.info(
        "{} of {} slices are read at broker level: {}",
        reasons.values.sum,
        slices.size,
        reasons.toSeq.sortBy(-_._2).take(5).map { case (reason, count) => s"$reason ($count)" }.mkString("; ")
      )
  }
}
