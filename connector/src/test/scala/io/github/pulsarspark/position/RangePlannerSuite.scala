package io.github.pulsarspark.position

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.errors.PulsarError

class RangePlannerSuite extends UnitSuite {

  private val t      = "persistent://public/default/t"
  private val topics = Map(t -> Seq(s"$t-partition-0", s"$t-partition-1"))
  private val full   =
    (name: String) => if (name.startsWith("persistent://")) name else s"persistent://public/default/$name"
  private val bounds = PartitionBounds(Position(3, -1), Position(5, 7))

  private def assign(specs: (String, PositionSpec)*) =
    RangePlanner.assign(BoundSpec.Each("startingOffsets", specs.toMap, PositionSpec.Earliest), topics, full,
      (_, _) => None, _ == full("later"))

  test("a topic that may be missing has no bound before it exists") {
    assertEquals(assign("later" -> PositionSpec.Latest), assign())
  }

  test("bounds apply to short names, partitions and whole topics") {
    val both =
      Map[String, PositionSpec](s"$t-partition-0" -> PositionSpec.Earliest, s"$t-partition-1" -> PositionSpec.Earliest)
    assertEquals(assign("t" -> PositionSpec.Earliest), both)
    assertEquals(
      RangePlanner.assign(BoundSpec.Everywhere("o", PositionSpec.Earliest), topics, full, (_, _) => None,
        _ => false),
      both
    )
    assertEquals(
      assign("t-partition-0" -> PositionSpec.Latest, "t-partition-1" -> PositionSpec.After(Position(1, 1))).size,
      2
    )
  }

  test("a partition that is not listed has the default") {
    assertEquals(
      assign("t-partition-0"                      -> PositionSpec.Latest),
      Map[String, PositionSpec](s"$t-partition-0" -> PositionSpec.Latest, s"$t-partition-1" -> PositionSpec.Earliest)
    )
  }

  test("names that are unknown or ambiguous, refused") {
    def refused(specs: (String, PositionSpec)*) =
      intercept[IllegalArgumentException with PulsarError](assign(specs: _*)).condition
    assertEquals(refused("other" -> PositionSpec.Earliest), "PULSAR_OFFSETS_UNKNOWN_TOPIC")
    assertEquals(refused("t-partition-7" -> PositionSpec.Earliest), "PULSAR_OFFSETS_UNKNOWN_TOPIC")
    assertEquals(refused("t" -> PositionSpec.After(Position(1, 1))), "PULSAR_OFFSETS_MALFORMED")
    assertEquals(refused("t" -> PositionSpec.From(Position(1, 1))), "PULSAR_OFFSETS_MALFORMED")
  }

  test("a position alone is one of the only partition") {
    def everywhere(spec: PositionSpec, partitions: Map[String, Seq[String]]) =
      RangePlanner.assign(BoundSpec.Everywhere("endingOffsets", spec), partitions, full, (_, _) => None, _ => false)
    val at = PositionSpec.After(Position(1, 1))
    assertEquals(everywhere(at, Map(t -> Seq(t))), Map[String, PositionSpec](t -> at))
    assertEquals(everywhere(PositionSpec.Newest(1), topics).size, 2)
    val error = intercept[IllegalArgumentException](everywhere(at, topics)).getMessage
    assert(
      error.startsWith("[PULSAR_OFFSETS_MALFORMED] Option `endingOffsets` is invalid at `1:1`: position 1:1 is in " +
        "one partition, but the read has 2."),
      error
    )
  }

  test("a progress may name topics that the read does not have, as long as it has one of them") {
    def assign(names: String*) = RangePlanner.assign(
      BoundSpec.Each("endingOffsets", names.map(_ -> PositionSpec.After(Position(1, 1))).toMap,
        PositionSpec.After(Position.BeforeAll), isProgress = true),
      topics,
      full,
      (_, _) => None,
      _ => false
    )
    assertEquals(assign("other", "t-partition-0"), assign("t-partition-0"))
    assertEquals(assign().values.toSet, Set[PositionSpec](PositionSpec.After(Position.BeforeAll)))
    val error = intercept[IllegalArgumentException with PulsarError](assign("other", "another-partition-0"))
    assertEquals(error.condition, "PULSAR_OFFSETS_UNKNOWN_TOPIC")
  }

  test("an end behind the last message, the last message") {
    def end(spec: PositionSpec) = RangePlanner.end(spec, bounds, _ => Position(99, 0))
    assertEquals(end(PositionSpec.Latest), Position(5, 7))
    assertEquals(end(PositionSpec.After(Position(9, 9))), Position(5, 7))
    assertEquals(end(PositionSpec.After(Position(5, 7, 3))), Position(5, 7, 3))
    assertEquals(end(PositionSpec.AtTime(1)), Position(5, 7))
  }

  test("a start is resolved within the bounds of its partition") {
    def start(spec: PositionSpec) =
      RangePlanner.start(spec, bounds, time => Position(4, time), count => Position(4, 99, count))
    assertEquals(start(PositionSpec.Newest(3)), Position(4, 99, 3))
    assertEquals(start(PositionSpec.Earliest), Position(3, -1))
    assertEquals(start(PositionSpec.Latest), Position(5, 7))
    assertEquals(start(PositionSpec.AtTime(2)), Position(4, 2))
    assertEquals(start(PositionSpec.From(Position(4, 2, 5))), Position(4, 2, 4))
    assertEquals(start(PositionSpec.From(Position(4, 2, 0))), Position(4, 1))
    assertEquals(start(PositionSpec.From(Position(4, 0))), Position(4, -1))
    assertEquals(start(PositionSpec.From(Position(4, -1))), Position(4, -1))
    assertEquals(start(PositionSpec.After(Position(4, 2, 5))), Position(4, 2, 5))
  }

  test("an end before its start is an error, equal ones are an empty range") {
    def order(s: PositionSpec, e: PositionSpec): Unit = RangePlanner.checkOrder(t, s, e)
    order(PositionSpec.After(Position(1, 1)), PositionSpec.After(Position(1, 1)))
    order(PositionSpec.From(Position(1, 1)), PositionSpec.After(Position(1, 1, 0)))
    order(PositionSpec.From(Position(1, -1)), PositionSpec.After(Position(1, -1)))
    order(PositionSpec.From(Position(1, 1)), PositionSpec.After(Position.BeforeAll)) // the end excludes the partition
    Seq(Position(1, 1, 4), Position(1, 1, 0), Position(1, 0), Position(0, 9)).foreach { end =>
      assertEquals(
        intercept[IllegalArgumentException with PulsarError](
          order(PositionSpec.From(Position(1, 1, 5)), PositionSpec.After(end))
        ).condition,
        "PULSAR_OFFSETS_REVERSED"
      )
    }
    assertEquals(
      intercept[IllegalArgumentException with PulsarError](order(
        PositionSpec.After(Position(1, 1)),
        PositionSpec.After(Position(1, 0))
      )).condition,
      "PULSAR_OFFSETS_REVERSED"
    )
    assertEquals(
      intercept[IllegalArgumentException with PulsarError](
        order(PositionSpec.AtTime(2), PositionSpec.AtTime(1))
      ).condition,
      "PULSAR_OFFSETS_REVERSED"
    )
    assert(OffsetRange(t, Position(1, 1), Position(1, 1)).isEmpty)
  }
}
