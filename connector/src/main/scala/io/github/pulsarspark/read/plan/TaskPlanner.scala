package io.github.pulsarspark.read.plan

import org.apache.spark.sql.SparkSession

import io.github.pulsarspark.errors.DataLossPolicy
import io.github.pulsarspark.position.PruningBounds
import io.github.pulsarspark.pulsar.TopicNames
import io.github.pulsarspark.read.{PlannedRange, PlannedRead, PlannedSlice, PulsarInputPartition, ReadContext}
import io.github.pulsarspark.storage.SegmentPlanner
import io.github.pulsarspark.storage.segment.Slice

/** Shares out ranges among tasks. */
private[read] final class TaskPlanner(
    task: ReadContext,
    session: DriverSession,
    losses: DataLossPolicy,
    filters: PushedFilters = PushedFilters.none
) {
  private lazy val catalog = session.segments(task.hadoop, losses)

  /** @param tail
    *   entries up to which a range is left to the broker without looking where they are stored
    */
  def plan(asked: Seq[PlannedRange], tail: Long = 0): PlannedRead = {
    val (ranges, ledgersSkipped) = wanted(asked)
    val byTopic                  = ranges.map(r => r.range.topic -> r).toMap
    val slices                   = catalog.slices(ranges.map(_.range), tail)
    val bytes                    = taskBytes(slices)
    val starts                   = catalog.starts(slices.flatMap(_.segment).filter(SegmentPlanner.isCut(_, bytes)))
    val planned = slices.flatMap(SegmentPlanner.cut(_, bytes, s => starts.getOrElse(s.ledgerId, Nil))).map { slice =>
      PlannedSlice(slice, byTopic(slice.range.topic).wanted, byTopic(slice.range.topic).schema)
    }
    val tasks = SegmentPlanner.pack(planned, bytes)(_.slice.segment.map(_.bytes)).map(PulsarInputPartition(_))
    PlannedRead(tasks, ledgersSkipped = ledgersSkipped)
  }

  /** What the filters leave of the ranges, and the number of ledgers they leave out. */
  private def wanted(ranges: Seq[PlannedRange]): (Seq[PlannedRange], Long) = {
    val passing  = ranges.map(r => TaskPlanner.wanted(filters, r.range.topic))
    val narrowed = catalog.narrow(ranges.map(_.range).zip(passing))
    val limited  = ranges.lazyZip(passing).lazyZip(narrowed).map { case (planned, filtered, (range, _)) =>
      planned.copy(range = range, wanted = planned.wanted.intersect(filtered))
    }
    (limited.filterNot(r => r.range.isEmpty || r.wanted.isEmpty), narrowed.map(_._2).sum)
  }

  private def taskBytes(slices: Seq[Slice]): Long = SegmentPlanner.taskBytes(
    slices.flatMap(_.segment).map(_.bytes).sum,
    task.options.maxBytesPerPartition,
    task.options.minPartitions,
    SparkSession.active.sparkContext.defaultParallelism
  )
}

private[read] object TaskPlanner {

  /** The messages of a topic partition that can pass the filters. */
  def wanted(filters: PushedFilters, partition: String): PruningBounds =
    filters.wanted(partition, TopicNames.partitionIndex(partition))
}
