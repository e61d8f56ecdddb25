package io.github.pulsarspark.read.stream.lag

import org.scalacheck.Gen
import org.scalacheck.Prop._

import io.github.pulsarspark.PropertySuite
import io.github.pulsarspark.position.{PartitionBounds, Position, PulsarOffset}

class BacklogSuite extends PropertySuite {

  private def backlog(
      read: Map[String, Position],
      bounds: Map[String, PartitionBounds],
      isCompacted: Boolean = false,
      between: (Long, Long) => Option[(Long, Long)] = (_, _) => None
  ) = Backlog.of(PulsarOffset.of(read), bounds, isCompacted, (_, from, to) => between(from, to))

  private def one(read: Position, last: Position, first: Position = Position(1, -1)) =
    backlog(Map("p" -> read), Map("p" -> PartitionBounds(first, last)))

  test("a stream that has read everything is exactly 0 behind") {
    val done = one(Position(3, 9), Position(3, 9))
    assertEquals((done.entries, done.worst), (Some(0L), None))
    assertEquals(one(Position(4, 0), Position(3, 9)).entries, Some(0L), "markers after the last message were read")
    assertEquals(backlog(Map.empty, Map.empty).entries, Some(0L))
  }

  test("positions in one ledger are counted; the rest of a batch counts as an entry") {
    assertEquals(one(Position(3, 4), Position(3, 9)).entries, Some(5L))
    assertEquals(one(Position(3, 4, 2), Position(3, 9)).entries, Some(6L))
    assertEquals(one(Position(3, 9, 2), Position(3, 9)).entries, Some(1L))
    assertEquals(one(Position(2, 7), Position(3, 9), first = Position(3, -1)).entries, Some(10L), "ledger 2 is gone")
  }

  test("positions in two ledgers are unknown without a list of ledgers, never 0") {
    val behind = one(Position(2, 7), Position(3, 9))
    assertEquals((behind.behind.size, behind.entries), (1, None))
    assertEquals(behind.worst.map(_.partition), Some("p"))
    val some = backlog(
      Map("p" -> Position(3, 4), "q" -> Position(2, 0)),
      Map("p" -> PartitionBounds(Position(1, -1), Position(3, 9)),
        "q"   -> PartitionBounds(Position(1, -1), Position(4, 1)))
    )
    assertEquals((some.entries, some.worst.map(_.partition)), (None, Some("q")),
      "a sum with an unknown part is unknown")
  }

  test("a new partition is behind from its first message on") {
    val bounds = Map("new" -> PartitionBounds(Position(8, -1), Position(8, 3)))
    assertEquals(backlog(Map.empty, bounds).entries, Some(4L))
  }

  test("the compacted view lacks an unknown number of entries") {
    val bounds = Map("p" -> PartitionBounds(Position.BeforeAll, Position(3, 9)))
    assertEquals(backlog(Map("p" -> Position(3, 4)), bounds, isCompacted = true).entries, None)
    assertEquals(backlog(Map("p" -> Position(3, 9)), bounds, isCompacted = true).entries, Some(0L))
  }

  test("the worst partition has the most entries") {
    val read   = Map("a" -> Position(3, 4), "b" -> Position(4, 0), "c" -> Position(5, 0))
    val bounds = read.map { case (p, at) => p -> PartitionBounds(Position(1, -1), at.copy(entryId = 20)) }
    assertEquals(backlog(read, bounds).worst.map(p => (p.partition, p.entries)), Some(("b", Some(20L))))
    val far = bounds + ("a" -> PartitionBounds(Position(1, -1), Position(9, 0))) +
      ("c" -> PartitionBounds(Position(1, -1), Position(9, 0)))
    assertEquals(backlog(read, far).worst.map(_.partition), Some("a"), "of unknown ones that in the oldest ledger")
  }

  private val stored = Gen.nonEmptyListOf(Gen.choose(0L, 5L)).map(_.take(6).zipWithIndex.map { case (count, index) =>
    (3L + 2 * index, count)
  })

  property("with the list of ledgers the number of entries is exact") {
    forAll(stored, Gen.choose(0, 40), Gen.choose(0, 40), Gen.oneOf(true, false)) { (ledgers, a, b, isCut) =>
      val all       = Position(3, -1) +: ledgers.flatMap { case (id, count) => (0L until count).map(Position(id, _)) }
      val start     = all(math.min(a, b) % all.size)
      val last      = all(math.max(math.min(a, b) % all.size, math.max(a, b) % all.size))
      val isInBatch = isCut && !start.isBeforeLedger && start < last
      val read      = if (isInBatch) start.copy(batchIndex = 1) else start
      val bounds    = Map("p" -> PartitionBounds(Position(3, -1), last))

      def between(from: Long, to: Long) = Some(
        ledgers.filter(_._1 == from).map(_._2).sum -> ledgers.filter(l => l._1 > from && l._1 < to).map(_._2).sum
      )
      assertEquals(
        backlog(Map("p" -> read), bounds, between = between).entries,
        Some(all.count(p => p > start && p <= last).toLong + (if (isInBatch) 1 else 0))
      )
    }
  }
}
