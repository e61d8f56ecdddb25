package io.github.pulsarspark.read.stream

import java.time.Instant

import org.scalacheck.Gen
import org.scalacheck.Prop._

import io.github.pulsarspark.PropertySuite
import io.github.pulsarspark.position.{OffsetRange, PartitionBounds, Position, PulsarOffset, RangePlanner}

class StreamProgressSuite extends PropertySuite {

  private val p0 = "persistent://public/default/t-partition-0"
  private val p1 = "persistent://public/default/t-partition-1"

  private val bounds =
    Map(p0 -> PartitionBounds(Position(1, -1), Position(3, 9)), p1 -> PartitionBounds(Position(2, -1), Position(2, -1)))
  private val all = PulsarOffset.of(bounds.map { case (p, b) => p -> b.last })

  private def next(read: PulsarOffset, bounds: Map[String, PartitionBounds], recreated: Set[String] = Set()) =
    StreamProgress.next(read, bounds, recreated)

  private def lost(read: PulsarOffset, bounds: Map[String, PartitionBounds], recreated: Set[String] = Set()) =
    StreamProgress.losses(read, bounds, recreated).map { loss =>
      (loss.condition.name, loss.parameters("topic"), loss.parameters("from"))
    }

  /** Offset as a restart reads it from the checkpoint. */
  private def restarted(offset: PulsarOffset) = PulsarOffset.parse(offset.json, "the checkpoint")

  private def ranges(read: PulsarOffset, to: PulsarOffset) = RangePlanner.between(read, restarted(to))

  test("the offset stays without new data; new messages and new partitions move it") {
    assert(next(all, bounds) eq all)
    val more = bounds + (p1 -> PartitionBounds(Position(2, -1), Position(2, 4))) +
      ("new" -> PartitionBounds(Position(8, -1), Position(8, 0)))
    val moved = next(all, more)
    assertEquals(moved.positions.toMap, more.map { case (p, b) => p -> b.last })
    assertEquals(moved.added.toMap, Map("new" -> Position(8, -1)))
  }

  test("a partition goes up to where it is known to go, although an earlier last message is named") {
    val known = Some(PulsarOffset.of(Map(p0 -> Position(4, 2), p1 -> Position(2, -1), "gone" -> Position(1, 1))))
    val later = PartitionBounds(Position(1, -1), Position(4, 2))
    assertEquals(StreamProgress.upTo(known, bounds, Set.empty), bounds + (p0 -> later))
    assertEquals(StreamProgress.upTo(known, bounds, Set(p0)), bounds, "it was created again")
    assertEquals(StreamProgress.upTo(None, bounds, Set.empty), bounds)
  }

  test("a deleted partition is data loss, reported once") {
    assertEquals(lost(all, bounds), Nil)
    assertEquals(lost(all, bounds - p0), Seq(("PULSAR_DATA_LOSS.PARTITION_MISSING", p0, "3:9")))
    val after = restarted(next(all, bounds - p0))
    assert(next(after, bounds - p0) eq after)
    assertEquals(lost(after, bounds - p0), Nil)
    assertEquals(lost(all, Map.empty).map(_._1),
      Seq("PULSAR_DATA_LOSS.TOPIC_DELETED", "PULSAR_DATA_LOSS.TOPIC_DELETED"))
  }

  test("a topic that the options no longer select is not called deleted") {
    val losses = StreamProgress.losses(all, Map.empty, Set.empty, isSelected = _ != p0)
    assertEquals(losses.map(l => (l.condition.name, l.parameters("topic"))),
      Seq("PULSAR_DATA_LOSS.TOPIC_NOT_SELECTED" -> p0, "PULSAR_DATA_LOSS.TOPIC_DELETED" -> p1))
  }

  test("a partition that ends before its offset keeps the offset and reports no data loss") {
    val markers = bounds + (p0 -> PartitionBounds(Position(1, -1), Position(3, 7)))
    assertEquals(StreamProgress.behind(all, markers), Map(p0 -> Position(3, 9)))
    assert(next(all, markers) eq all)
    assertEquals(lost(all, markers), Nil)
    val more = markers + (p1 -> PartitionBounds(Position(2, -1), Position(2, 0)))
    assertEquals(next(all, more).positions.toMap, Map(p0 -> Position(3, 9), p1 -> Position(2, 0)))
  }

  test("a recreated partition is data loss, and is read from its first message") {
    val recreated = bounds + (p0 -> PartitionBounds(Position(0, -1), Position(0, 5)))
    assertEquals(lost(all, recreated, Set(p0)), Seq(("PULSAR_DATA_LOSS.TOPIC_RECREATED", p0, "3:9")))
    val cut = bounds + (p0 -> PartitionBounds(Position(1, -1), Position(3, 5)))
    assertEquals(lost(all, cut, Set(p0)), Seq(("PULSAR_DATA_LOSS.BEYOND_END", p0, "3:9")))
    assertEquals(ranges(all, next(all, recreated, Set(p0))), Seq(OffsetRange(p0, Position(0, -1), Position(0, 5))))
  }

  test("a partition that was created again with higher ledgers is data loss up to its first message") {
    val created   = Instant.parse("2026-01-01T00:00:00Z")
    val newer     = bounds + (p0 -> PartitionBounds(Position(7, -1), Position(7, 4)))
    val Seq(loss) = StreamProgress.losses(all, newer, Set.empty, Map(p0 -> created)): @unchecked
    assertEquals(loss.condition.name, "PULSAR_DATA_LOSS.TOPIC_RECREATED")
    assertEquals(Seq("topic", "from", "to").map(loss.parameters), Seq(p0, "3:9", Position(7, -1).toString))
    assert(loss.parameters("reason").contains("2026-01-01"), loss.parameters)
    assertEquals(ranges(all, next(all, newer, Set(p0))), Seq(OffsetRange(p0, Position(7, -1), Position(7, 4))))
  }

  test("a partition that was missing for a while resumes at its offset") {
    val without = restarted(next(all, bounds - p0))
    val back    = bounds + (p0 -> PartitionBounds(Position(1, -1), Position(4, 2)))
    assertEquals(ranges(without, next(without, back)), Seq(OffsetRange(p0, Position(3, 9), Position(4, 2))))
    val stillMissing = restarted(next(without, bounds - p0 + (p1 -> PartitionBounds(Position(2, -1), Position(2, 0)))))
    assertEquals(ranges(stillMissing, next(stillMissing, back)), Seq(OffsetRange(p0, Position(3, 9), Position(4, 2))))
    assertEquals(lost(stillMissing, back), Nil)
  }

  test("a partition that returns without its old ledgers is read from its first message") {
    val without = restarted(next(all, bounds - p0))
    val back    = bounds + (p0 -> PartitionBounds(Position(9, -1), Position(9, 2)))
    assertEquals(ranges(without, next(without, back)), Seq(OffsetRange(p0, Position(9, -1), Position(9, 2))))
  }

  test("the offset keeps a limited number of deleted partitions, the newest") {
    val many  = PulsarOffset.of((1 to 3000).map(n => f"t$n%04d" -> Position(n, 0)))
    val after = next(many, Map.empty)
    assertEquals(after.missing.size, 1000)
    assertEquals(after.missing.head._1, "t2001")
  }

  test("a dropped ledger that was read to its end is no data loss: the next range starts at the first message") {
    val read      = PulsarOffset.of(Seq(p0 -> Position(1, 9), p1 -> Position(2, -1)))
    val unwatched = Map(p0 -> PartitionBounds(Position(5, -1), Position(5, 3)),
      p1 -> PartitionBounds(Position(6, -1), Position(6, -1)))
    def known(at: Map[String, Position]) = unwatched.map { case (p, b) => p -> b.copy(emptyAfter = at.get(p)) }

    assertEquals(ranges(read, next(read, known(read.positions.toMap))),
      Seq(OffsetRange(p0, Position(5, -1), Position(5, 3))))
    val asBefore =
      Seq(OffsetRange(p0, Position(1, 9), Position(5, 3)), OffsetRange(p1, Position(2, -1), Position(6, -1)))
    assertEquals(ranges(read, next(read, unwatched)), asBefore, "nothing is known, so the task has to look")
    val other = known(Map(p0 -> Position(1, 8), p1 -> Position(1, -1)))
    assertEquals(ranges(read, next(read, other)), asBefore, "something is known of another position")
  }

  test("a limit bounds the offset; a partition outside the limit keeps its place") {
    val limit  = PulsarOffset.of(Seq(p0 -> Position(3, 5)))
    val latest = PulsarOffset.of(Seq(p0 -> Position(3, 9), p1 -> Position(2, 1)))
    assertEquals(StreamProgress.within(limit, PulsarOffset.of(Nil), latest).positions.toMap, Map(p0 -> Position(3, 5)))
    val read = PulsarOffset.of(Seq(p1 -> Position(2, 0)))
    assertEquals(StreamProgress.within(limit, read, latest).positions.toMap,
      Map(p0 -> Position(3, 5), p1 -> Position(2, 0)))
  }

  test("a limit before the start never moves an offset back") {
    val limit = PulsarOffset.of(Seq(p0 -> Position(3, 5)))
    val start = PulsarOffset.of(Seq(p0 -> Position(3, 9)))
    assertEquals(StreamProgress.within(limit, start, start).positions.toMap, start.positions.toMap)
  }

  test("a partition that joins without a share is entered where it begins, and read from there later") {
    val read      = PulsarOffset.of(Seq(p0 -> Position(3, 2)))
    val recreated = Map(p0 -> PartitionBounds(Position(0, -1), Position(0, 5)),
      p1 -> PartitionBounds(Position(2, -1),
        Position(2, 4)))
    val starts = PulsarOffset.of(Seq(p0 -> Position(0, -1), p1 -> Position(2, -1)))
    val first  = restarted(StreamProgress.within(starts, read, next(read, recreated, Set(p0))))
    assertEquals(RangePlanner.between(read, first), Nil)
    assertEquals(lost(first, recreated), Nil, "the loss is reported once")
    assertEquals(ranges(first, next(first, recreated)).toSet,
      Set(OffsetRange(p0, Position(0, -1), Position(0, 5)), OffsetRange(p1, Position(2, -1), Position(2, 4))))
  }

  test("a partition that returns outside the limit keeps its place") {
    val without = restarted(next(all, bounds - p0))
    val end     = StreamProgress.within(PulsarOffset.of(Seq(p1 -> Position(2, -1))), without, next(without, bounds))
    assertEquals(restarted(end).missing.toMap, Map(p0 -> Position(3, 9)))
  }

  private val position: Gen[Position] =
    for (ledger <- Gen.choose(1L, 4L); entry <- Gen.choose(-1L, 4L)) yield Position(ledger, entry)
  private val partition: Gen[String] = Gen.oneOf("a", "b", "c")

  private val someBounds: Gen[Map[String, PartitionBounds]] = Gen.mapOf(for {
    p <- partition; a <- position; b <- position
  } yield p -> PartitionBounds(Seq(a, b).min.copy(entryId = -1), Seq(a, b).max))

  property(
    "whatever the partitions hold, offsets move forward, ranges never overlap what was read, and nothing new is the same offset"
  ) {
    forAll(Gen.mapOf(Gen.zip(partition, position)), Gen.listOfN(4, someBounds),
      Gen.mapOf(Gen.zip(partition, position))) {
      (start, seen, pin) =>
        seen.foldLeft(PulsarOffset.of(start)) { (read, now) =>
          val latest = next(read, now)
          // where nothing moves, there is no batch
          Seq(latest, StreamProgress.within(PulsarOffset.of(pin), read, latest)).filter(
            _.positions != read.positions
          ).foreach { to =>
            to.positions.foreach { case (p, end) =>
              read.positions.get(p).foreach(at => assert(end >= at, s"$p: $at -> $end"))
            }
            RangePlanner.between(read, restarted(to)).foreach { r =>
              (read.positions.get(r.topic) ++ read.missing.get(r.topic).filter(_ >= now(r.topic).first)).foreach { at =>
                assert(r.startExclusive >= at, s"$r begins before $at")
              }
            }
          }
          assert(next(latest, now).positions == latest.positions)
          latest
        }
        true
    }
  }
}
