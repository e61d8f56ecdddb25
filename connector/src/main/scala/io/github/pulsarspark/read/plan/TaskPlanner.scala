package io.github.pulsarspark.read.plan

import io.github.pulsarspark.format.Tier
import io.github.pulsarspark.metrics.PlanCounts
import io.github.pulsarspark.position.{OffsetRange, PruningBounds}
import io.github.pulsarspark.read.task.{PlannedSlice, PulsarInputPartition}
import io.github.pulsarspark.schema.TopicSchema
import io.github.pulsarspark.storage.{RequestedRange, SegmentPlan}

/** A range of one topic partition that is to be read, and how its messages become rows. */
private[read] final case class PlannedRange(range: OffsetRange, bounds: PruningBounds, schema: TopicSchema)

/** The driver's plan of a read.
  *
  * @param partitionsSkipped
  *   topic partitions without messages that the filters accept
  * @param ledgersSkipped
  *   ledgers of other partitions without such messages
  */
private[read] final case class PlannedRead(
    tasks: Seq[PulsarInputPartition],
    partitionsSkipped: Long = 0,
    ledgersSkipped: Long = 0
) extends PlanCounts {

  /** Stored bytes, at least 1; None when the broker reads a slice, because it reports no sizes. */
  def bytes: Option[Long] = {
    val segments = tasks.flatMap(_.slices).map(_.slice.segment)
    Option.when(segments.forall(_.nonEmpty))(math.max(1L, segments.flatten.map(_.bytes).sum))
  }

  /** The number of tasks, and of slices at each level. */
  def summary: String = {
    val slices  = tasks.flatMap(_.slices).map(_.slice)
    val byLevel = Tier.all.flatMap { level =>
      val here = slices.filter(_.level == level)
      Option.when(here.nonEmpty) {
        val bytes = here.flatMap(_.segment).map(_.bytes).sum
        s"${here.size} ${level.name}" + (if (bytes > 0) s" ${(bytes + (1L << 20) - 1) / (1L << 20)} MiB" else "")
      }
    }
    s"${tasks.size} tasks, slices: ${if (byLevel.isEmpty) "none" else byLevel.mkString(", ")}"
  }
}

/** Divides ranges into tasks.
  *
  * @param divide
  *   by where the ranges are stored, for this many tasks that run at a time
  */
private[read] final class TaskPlanner(schemas: TaskSchemas, filters: PushedFilters = PushedFilters.none)(
    divide: (Seq[RequestedRange], Int) => SegmentPlan
) {

  def plan(ranges: Seq[PlannedRange]): PlannedRead = {
    val requested = ranges.map { r =>
      val passing = filters.bounds(r.range.topic)
      RequestedRange(r.range, passing, r.bounds.intersect(passing))
    }
    val plan    = divide(requested, TaskPlanner.parallelism)
    val byTopic = ranges.zip(requested).map { case (r, narrowed) => r.range.topic -> (narrowed.bounds, r.schema) }.toMap
    val sent    = schemas.planned(plan.tasks.map(_.map(slice => byTopic(slice.range.topic)._2).toSet))
    val tasks   = plan.tasks.map { slices =>
      PulsarInputPartition(slices.map { slice =>
        val (bounds, schema) = byTopic(slice.range.topic)
        PlannedSlice(slice, bounds, sent(schema))
      })
    }
    PlannedRead(tasks, ledgersSkipped = plan.ledgersSkipped)
  }
}

private object TaskPlanner {

  /** Tasks that run at a time; without Spark, for the command line, the processors of this machine. */
  private def parallelism: Int =
    DriverSession.spark.fold(Runtime.getRuntime.availableProcessors)(_.sparkContext.defaultParallelism)
}
