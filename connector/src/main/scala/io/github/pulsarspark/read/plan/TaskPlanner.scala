package io.github.pulsarspark.read.plan

import scala.collection.immutable.ArraySeq

import io.github.pulsarspark.format.Tier
import io.github.pulsarspark.metrics.PlanCounts
import io.github.pulsarspark.position.{OffsetRange, PruningBounds}
import io.github.pulsarspark.read.task.{PlannedSlices, PulsarInputPartition}
import io.github.pulsarspark.schema.TopicSchema
import io.github.pulsarspark.storage.{RequestedRange, SegmentPlan}
import io.github.pulsarspark.storage.segment.Slice

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

  private def slices: Iterator[Slice] = tasks.iterator.flatMap(_.slices)

  /** Stored bytes, at least 1; None when the broker reads a slice, because it reports no sizes. */
  def bytes: Option[Long] =
    Option.when(slices.forall(_.level != Tier.Broker))(math.max(1L, slices.map(_.bytes).sum))

  /** The number of tasks, and of slices at each level. */
  def summary: String = {
    val byLevel = Tier.all.flatMap { level =>
      val here = slices.count(_.level == level)
      Option.when(here > 0) {
        val bytes = slices.filter(_.level == level).map(_.bytes).sum
        s"$here ${level.name}" + (if (bytes > 0) s" ${(bytes + (1L << 20) - 1) / (1L << 20)} MiB" else "")
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
    val parts   = plan.tasks.map(TaskPlanner.neighbours)
    val sent    = schemas.planned(parts.map(_.map(slices => byTopic(slices.head.topic)._2).toSet))
    val tasks   = parts.map { task =>
      PulsarInputPartition(task.map { slices =>
        val (bounds, schema) = byTopic(slices.head.topic)
        PlannedSlices(slices, bounds, sent(schema))
      })
    }
    PlannedRead(tasks, ledgersSkipped = plan.ledgersSkipped)
  }
}

private object TaskPlanner {

  /** The slices of a task by topic partition, as far as those of one are neighbours. */
  private def neighbours(slices: Seq[Slice]): Seq[Seq[Slice]] = ArraySeq.unfold(slices.toList)(left =>
    left.headOption.map { first =>
      val (same, others) = left.span(_.topic == first.topic)
      (same.to(ArraySeq), others)
    }
  )

  /** Tasks that run at a time; without Spark, for the command line, the processors of this machine. */
  private def parallelism: Int =
    DriverSession.spark.fold(Runtime.getRuntime.availableProcessors)(_.sparkContext.defaultParallelism)
}
