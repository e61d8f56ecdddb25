package io.github.pulsarspark.storage

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.errors.DataLossPolicy
import io.github.pulsarspark.options.ReadOptions
import io.github.pulsarspark.options.registry.{CheckedOptions, Scope}
import io.github.pulsarspark.position.{Interval, OffsetRange, Position, PruningBounds}

import io.github.pulsarspark.storage.segment.HadoopSettings

class SegmentPlanSuite extends UnitSuite {

  private val options = ReadOptions(CheckedOptions(
    Map("service.url" -> "pulsar://h:1", "topic" -> "t"),
    Scope.BatchRead,
    _ => Nil
  ))

  private def range(topic: String) = OffsetRange(topic, Position(1, -1), Position(2, 9))

  private def plan(ranges: RequestedRange*): SegmentPlan = {
    val locator = new SegmentLocator(None, options, HadoopSettings.none, new DataLossPolicy(true), new KnownStorage)
    SegmentPlan.of(ranges, locator, options, tail = None, parallelism = 8)
  }

  private def unbounded(topic: String) =
    RequestedRange(range(topic), PruningBounds.Everything, PruningBounds.Everything)

  test("without an admin service each range is one task, which the broker reads") {
    val planned = plan(unbounded("a"), unbounded("b"))
    assertEquals(planned.tasks.map(_.map(_.range)), Seq(Seq(range("a")), Seq(range("b"))))
    assert(planned.tasks.flatten.forall(_.segment.isEmpty))
    assertEquals(planned.ledgersSkipped, 0L)
  }

  test("a range without messages to read needs no task, whoever excludes them") {
    val never = PruningBounds(times = Interval.Never)
    val late  = PruningBounds(times = Interval(fromInclusive = 5))
    val empty = RequestedRange(OffsetRange("e", Position(1, 3), Position(1, 3)), late, late)
    assertEquals(plan(RequestedRange(range("a"), late, never), empty, unbounded("b")).tasks.flatten.map(_.range.topic),
      Seq("b"))
  }
}
