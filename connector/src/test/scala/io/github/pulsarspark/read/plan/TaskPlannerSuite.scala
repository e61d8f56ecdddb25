package io.github.pulsarspark.read.plan

import scala.collection.mutable

import org.apache.spark.sql.connector.expressions.Expressions
import org.apache.spark.sql.connector.expressions.filter.Predicate
import org.apache.spark.sql.types.LongType

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.format.Tier
import io.github.pulsarspark.position.{Interval, OffsetRange, Position, PruningBounds}
import io.github.pulsarspark.read.task.{PlannedSchema, PlannedSlice}
import io.github.pulsarspark.schema.TopicSchema
import io.github.pulsarspark.storage.{RequestedRange, SegmentPlan}
import io.github.pulsarspark.storage.segment.{SegmentLocation, Slice}

/** Ranges become tasks: what is asked of the storage, and what becomes of its division. */
class TaskPlannerSuite extends UnitSuite {

  private val (ints, texts) = (TopicSchema("INT32"), TopicSchema("STRING"))

  private def range(topic: String) = OffsetRange(topic, Position(1, -1), Position(3, 9))

  private def slice(topic: String, tier: Tier = Tier.Broker, bytes: Long = 0): Slice =
    if (tier == Tier.Broker) Slice.ByBroker(range(topic))
    else Slice.Direct(OffsetRange(topic, Position(1, -1), Position(1, 9)),
      new SegmentLocation {
        override def level: Tier                     = tier
        override def hosts(entry: Long): Seq[String] = Nil
      },
      bytes)

  private val ledgersBelow3 =
    PushedFilters(Seq(new Predicate("<", Array(Expressions.column("__ledgerId"), FilterValue(3L, LongType)))))

  private def plan(filters: PushedFilters, ranges: PlannedRange*)(
      divide: Seq[RequestedRange] => SegmentPlan
  ): PlannedRead =
    new TaskPlanner(new TaskSchemas(schema => PlannedSchema.Sent(schema)), filters)((r, _) => divide(r)).plan(ranges)

  test("ledgers may be skipped by the filters alone, entries by all that limits the read") {
    val requested = mutable.Buffer.empty[RequestedRange]
    val times     = PruningBounds(times = Interval(5, 9))
    plan(ledgersBelow3, PlannedRange(range("a"), times, ints)) { r =>
      requested ++= r
      SegmentPlan(Nil, 0)
    }
    val passing = PruningBounds(ledgers = Interval(toExclusive = 3))
    assertEquals(requested.toSeq, Seq(RequestedRange(range("a"), passing, passing.copy(times = Interval(5, 9)))))
  }

  test("each slice has the bounds and the schema of its topic, in the tasks that the storage made") {
    val times   = PruningBounds(times = Interval(5, 9))
    val planned = plan(PushedFilters.none, PlannedRange(range("a"), times, ints),
      PlannedRange(range("b"), PruningBounds.Everything, texts))(_ =>
      SegmentPlan(Seq(Seq(slice("b"), slice("a")), Seq(slice("a"))), ledgersSkipped = 7)
    )
    val a = PlannedSlice(slice("a"), times, PlannedSchema.Sent(ints))
    val b = PlannedSlice(slice("b"), PruningBounds.Everything, PlannedSchema.Sent(texts))
    assertEquals(planned.tasks.map(_.planned.toSeq), Seq(Seq(b, a), Seq(a)))
    assertEquals((planned.ledgersSkipped, planned.partitionsSkipped), (7L, 0L))
  }

  test("neighbours of one topic in a task share bounds and schema; the order of the slices stays") {
    val order   = Seq("a", "a", "b", "a")
    val planned = plan(PushedFilters.none, PlannedRange(range("a"), PruningBounds(times = Interval(5, 9)), ints),
      PlannedRange(range("b"), PruningBounds.Everything, texts))(_ =>
      SegmentPlan(Seq(order.map(slice(_)), order.reverse.map(slice(_)), Nil), 0)
    )
    assertEquals(planned.tasks.map(_.slices.map(_.topic).toSeq), Seq(order, order.reverse, Nil))
    assertEquals(planned.tasks.map(_.parts.map(_.slices.size)), Seq(Seq(2, 1, 1), Seq(1, 1, 2), Nil))
  }

  test("a schema that would be sent in many tasks is shared by them") {
    val large   = TopicSchema("JSON", "x" * (1 << 20))
    val shared  = PlannedSchema.Sent(TopicSchema("STRING"))
    val planner = new TaskPlanner(new TaskSchemas(_ => shared))((_, _) =>
      SegmentPlan(Seq.fill(5)(Seq(slice("a"))), 0)
    )
    val planned = planner.plan(Seq(PlannedRange(range("a"), PruningBounds.Everything, large)))
    assertEquals(planned.tasks.flatMap(_.planned).map(_.schema).distinct, Seq[PlannedSchema](shared))
  }

  private def read(slices: Slice*): PlannedRead =
    plan(PushedFilters.none, PlannedRange(range("a"), PruningBounds.Everything, ints))(_ => SegmentPlan(Seq(slices), 0))

  test("the size of a read is known where storage reports it, and is never 0, which Spark takes for nothing") {
    assertEquals(read(slice("a", Tier.Bookies, 3), slice("a", Tier.Tiered, 4)).bytes, Some(7L))
    assertEquals(read(slice("a", Tier.Bookies, 3), slice("a")).bytes, None)
    assertEquals(read(slice("a", Tier.Bookies)).bytes, Some(1L))
    assertEquals(PlannedRead(Nil).bytes, Some(1L))
  }

  test("a plan in words: tasks, and the slices of each tier with their size rounded up") {
    val mib = 1L << 20
    assertEquals(read(slice("a", Tier.Bookies, mib + 1), slice("a", Tier.Bookies, 0), slice("a")).summary,
      "1 tasks, slices: 1 broker, 2 bookies 2 MiB")
    assertEquals(read(slice("a", Tier.Tiered, 0)).summary, "1 tasks, slices: 1 tiered")
    assertEquals(PlannedRead(Nil).summary, "0 tasks, slices: none")
  }
}
