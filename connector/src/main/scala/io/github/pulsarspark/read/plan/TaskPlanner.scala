package io.github.pulsarspark.read.plan

import org.apache.spark.sql.SparkSession

import io.github.pulsarspark.errors.DataLossPolicy
import io.github.pulsarspark.position.{OffsetRange, PruningBounds}
import io.github.pulsarspark.read.task.{PlannedSlice, PulsarInputPartition, ReadContext}
import io.github.pulsarspark.schema.TopicSchema
import io.github.pulsarspark.storage.{RequestedRange, SegmentPlan}

/** A range of one topic partition that is to be read, and how its messages become rows. */
private[read] final case class PlannedRange(range: OffsetRange, bounds: PruningBounds, schema: TopicSchema)

/** Divides ranges into tasks. */
private[read] final class TaskPlanner(
    task: ReadContext,
    session: DriverSession,
    losses: DataLossPolicy,
    filters: PushedFilters = PushedFilters.none
) {

  /** @param tailEntries
    *   entries up to which the broker reads a range, without a look where they are stored
    */
  def plan(ranges: Seq[PlannedRange], tailEntries: Long = 0): PlannedRead = {
    val requested = ranges.map { r =>
      val passing = filters.bounds(r.range.topic)
      RequestedRange(r.range, passing, r.bounds.intersect(passing))
    }
    val plan = SegmentPlan.of(requested, session.segments(task.hadoop, losses), task.options, tailEntries,
      SparkSession.active.sparkContext.defaultParallelism)
    val byTopic = ranges.zip(requested).map { case (r, narrowed) => r.range.topic -> (narrowed.bounds, r.schema) }.toMap
    val tasks   = plan.tasks.map { slices =>
      PulsarInputPartition(slices.map { slice =>
        val (bounds, schema) = byTopic(slice.range.topic)
        PlannedSlice(slice, bounds, schema)
      })
    }
    PlannedRead(tasks, ledgersSkipped = plan.ledgersSkipped)
  }
}
