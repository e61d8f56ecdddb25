package io.github.pulsarspark.read.stream

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.position.{PartitionBounds, Position, PulsarOffset}

/** Partitions at whose end a stream stands: which of them are worth a consumer that watches. */
class IdlePartitionsSuite extends UnitSuite {

  private val t  = "persistent://public/default/t"
  private val p0 = s"$t-partition-0"
  private val p1 = s"$t-partition-1"

  private val bounds =
    Map(p0 -> PartitionBounds(Position(1, -1), Position(3, 9)), p1 -> PartitionBounds(Position(2, -1), Position(2, -1)))

  test(
    "a partition is idle when it has stood still for a while, at once when it is empty, and no more when it goes on"
  ) {
    var now        = 0L
    val standstill = new IdlePartitions(() => now)
    val patience   = IdlePartitions.IdleTime.toNanos
    val read       = PulsarOffset.of(bounds.map { case (p, b) => p -> b.last })
    val more       = bounds + (p0 -> PartitionBounds(Position(1, -1), Position(3, 10)))
    val ends       = bounds.map { case (p, b) => p -> b.last }
    assertEquals(standstill.at(read, bounds, Set.empty), (ends, Set(p1)))
    now = patience - 1
    assertEquals(standstill.at(read, bounds, Set.empty), (ends, Set(p1)))
    now = patience
    assertEquals(standstill.at(read, bounds, Set.empty), (ends, Set(p0, p1)))
    assertEquals(standstill.at(read, more, Set.empty), (ends - p0, Set(p1)))
    assertEquals(standstill.at(PulsarOffset.of(more.map { case (p, b) => p -> b.last }), more, Set.empty)._2, Set(p1),
      "the time begins anew")
    assertEquals(standstill.at(read, bounds - p1, Set.empty), (ends - p1, Set.empty[String]))
  }

  test("a stream stands at what it has read when a broker names an earlier last message, unless the topic ends there") {
    val read   = PulsarOffset.of(Map(p0 -> Position(3, 9)))
    val behind = Map(p0 -> PartitionBounds(Position(1, -1), Position(3, 5)))
    assertEquals(new IdlePartitions(() => 0L).at(read, behind, Set.empty)._1, Map(p0 -> Position(3, 9)))
    assertEquals(new IdlePartitions(() => 0L).at(read, behind, Set(p0))._1, Map.empty[String, Position])
  }
}
