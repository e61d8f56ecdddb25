package io.github.pulsarspark.read

import org.apache.spark.sql.SparkSession
import org.slf4j.LoggerFactory

import io.github.pulsarspark.errors.DataLossPolicy
import io.github.pulsarspark.storage.{Level, SegmentPlanner, Slice}

/** Shares out ranges among tasks. */
private[read] final class TaskPlanner(task: ReadTask, session: DriverSession, losses: DataLossPolicy) {

  /** @param tail
    *   entries up to which a range is left to the broker without looking where they are stored
    */
  def partitions(ranges: Seq[PlannedRange], tail: Long = 0): Seq[PulsarInputPartition] = {
    val catalog = session.segments(task.hadoop, losses)
    val byTopic = ranges.map(r => r.range.topic -> r).toMap
    val slices  = catalog.slices(ranges.map(_.range), tail)
    TaskPlanner.logReasons(slices)
    val bytes   = taskBytes(slices)
    val planned = slices.flatMap(SegmentPlanner.cut(_, bytes, catalog.starts)).map { slice =>
      PlannedSlice(slice, byTopic(slice.range.topic).times, byTopic(slice.range.topic).schema)
    }
    SegmentPlanner.pack(planned, bytes)(_.slice.segment.map(_.bytes)).map(group => PulsarInputPartition(group, group.head.slice.hosts))
  }

  private def taskBytes(slices: Seq[Slice]): Long = SegmentPlanner.taskBytes(
    slices.flatMap(_.segment).map(_.bytes).sum,
    task.options.maxBytesPerPartition,
    task.options.minPartitions,
    SparkSession.active.sparkContext.defaultParallelism
  )
}

private[read] object TaskPlanner {
  private val log = LoggerFactory.getLogger(classOf[TaskPlanner])

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
