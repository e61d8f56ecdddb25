package io.github.pulsarspark.storage

import org.scalacheck.Gen
import org.scalacheck.Prop._

import io.github.pulsarspark.PropertySuite
import io.github.pulsarspark.position.{OffsetRange, Position}
import io.github.pulsarspark.storage.segment.{BookieLocation, SegmentLocation, Slice, StoredLedger, TopicStorage}

class SegmentPlannerSuite extends PropertySuite {

  private val topic = "persistent://public/default/t"

  private val onBookies: StoredLedger => Either[String, SegmentLocation] = _ =>
    Right(
      BookieLocation(3, 1, 1, 1, "CRC32C", Seq(0L -> Seq("b:1")), None)
    )

  private def ledger(id: Long, entries: Long, entryBytes: Long = 100) =
    StoredLedger(id, entries, entries * entryBytes, isOffloaded = false, None)

  /** Closed ledgers of the given sizes with ids 10, 20, ... and an open one of `open` entries. */
  private def storage(open: Long, closed: Long*): TopicStorage = {
    val ledgers = closed.zipWithIndex.map { case (entries, i) => ledger(10L * (i + 1), entries) }
    val last    = 10L * (closed.size + 1)
    stored((ledgers :+ ledger(last, 0)).toIndexedSeq, Position(last, open - 1), open * 100, open)
  }

  private def stored(ledgers: IndexedSeq[StoredLedger], lastConfirmed: Position, openBytes: Long, openEntries: Long) =
    TopicStorage(ledgers, Some((ledgers.head.id, ledgers.last.id)), lastConfirmed, openBytes, openEntries)

  private def range(from: Position, to: Position) = OffsetRange(topic, from, to)

  private def shown(slices: Seq[Slice]) =
    slices.map(s =>
      s.segment.fold(s"broker (${s.range.startExclusive}, ${s.range.endInclusive}]")(g =>
        s"${g.ledgerId}:${g.first}-${g.last}"
      )
    )

  test("one slice for each ledger, the open one to the end of the range") {
    val found = SegmentPlanner.slices(range(Position(10, -1), Position(30, 4)), storage(5, 3, 7), onBookies)
    assertEquals(shown(found), Seq("10:0-2", "20:0-6", "30:0-4"))
    assertEquals(found.map(_.segment.get.bytes), Seq(300L, 700L, 500L))
  }

  test("ranges that begin or end within an entry keep that entry") {
    val found = SegmentPlanner.slices(range(Position(10, 1, 3), Position(20, 2, 5)), storage(5, 3, 7), onBookies)
    assertEquals(shown(found), Seq("10:1-2", "20:0-2"))
    assertEquals(found.map(_.range),
      Seq(range(Position(10, 1, 3), Position(10, 2)), range(Position(20, -1), Position(20, 2, 5))))
  }

  test("a range that begins at the end of a ledger does not want it") {
    assertEquals(shown(SegmentPlanner.slices(range(Position(10, 2), Position(20, 0)), storage(5, 3, 7), onBookies)),
      Seq("20:0-0"))
  }

  test("ledgers that only the broker can read are one slice, without a gap to those before and after") {
    def home(l: StoredLedger) = if (l.id == 20 || l.id == 30) Left(s"not ${l.id}") else onBookies(l)
    val found = SegmentPlanner.slices(range(Position(10, 0), Position(40, 1)), storage(2, 3, 7, 2), home)
    assertEquals(shown(found), Seq("10:1-2", "broker (20:-1, 30:1]", "40:0-1"))
    assertEquals(found(1).reason, "not 20")
  }

  test("a range is cut where the list of ledgers ends; the rest is the broker's") {
    val stored = storage(5, 3, 7)
    def check(from: Position, to: Position, storage: TopicStorage = stored)(slices: String*)(reason: String) = {
      val found = SegmentPlanner.slices(range(from, to), storage, onBookies)
      assertEquals(shown(found), slices)
      assert(found.last.reason.contains(reason), found.last.reason)
    }
    check(Position(10, 1), Position(25, 1))("10:2-2", "20:0-6", "broker (20:6, 25:1]")("25, in which the range ends")
    check(Position(10, 1), Position(40, 1))("10:2-2", "20:0-6", "30:0-4", "broker (30:4, 40:1]")("40, in which")
    check(Position(10, 1), Position(30, 5))("10:2-2", "20:0-6", "30:0-4", "broker (30:4, 30:5]")(
      "30:5 is not confirmed"
    )
    check(Position(10, 1), Position(20, 7))("10:2-2", "20:0-6", "broker (20:6, 20:7]")("20:7 is not confirmed")
    check(Position(30, 4), Position(30, 9))("broker (30:4, 30:9]")("30:9 is not confirmed")
    check(Position(30, 6), Position(30, 9))("broker (30:6, 30:9]")("30:9 is not confirmed")
    check(Position(30, 4, 2), Position(30, 9))("30:4-4", "broker (30:4, 30:9]")("30:9 is not confirmed")
    val unclear = this.stored(IndexedSeq(ledger(10, 3), ledger(20, 0), ledger(30, 0)), Position(30, 4), 500, 5)
    check(Position(10, 0), Position(30, 4), unclear)("10:1-2", "broker (10:2, 30:4]")("the end of ledger 20")
    check(Position(20, 0, 3), Position(30, 4), unclear)("broker (20:0:3, 30:4]")("the end of ledger 20")
  }

  test("what the broker reads before the end of the list is one slice with what is behind it") {
    def home(l: StoredLedger) = if (l.id == 30) Left("not 30") else onBookies(l)
    val found                 = SegmentPlanner.slices(range(Position(20, 5), Position(30, 9)), storage(5, 3, 7), home)
    assertEquals(shown(found), Seq("20:6-6", "broker (30:-1, 30:9]"))
  }

  test("a range that starts before the first ledger there is: the broker reads up to that, and no more") {
    def slices(from: Position, to: Position, home: StoredLedger => Either[String, SegmentLocation] = onBookies) =
      SegmentPlanner.slices(range(from, to), storage(5, 3, 7), home)
    val found = slices(Position(5, 3), Position(20, 1))
    assertEquals(shown(found), Seq("broker (5:3, 10:-1]", "10:0-2", "20:0-1"))
    assert(found.head.reason.contains("ledger 5, in which the range starts"), found.head.reason)
    assertEquals(shown(slices(Position(5, 3), Position(30, 9))),
      Seq("broker (5:3, 10:-1]", "10:0-2", "20:0-6", "30:0-4", "broker (30:4, 30:9]"))
    assertEquals(shown(slices(Position(5, 3), Position(20, 1), l => if (l.id == 10) Left("not 10") else onBookies(l))),
      Seq("broker (5:3, 10:2]", "20:0-1"))
    assertEquals(shown(slices(Position(5, 3), Position(7, 1))), Seq("broker (5:3, 7:1]"))
    assertEquals(shown(slices(Position(15, 3), Position(20, 1))), Seq("broker (15:3, 20:1]"))
  }

  private val histories = for {
    closed <- Gen.listOf(Gen.choose(1L, 50L))
    open   <- Gen.choose(0L, 50L)
  } yield storage(open, closed: _*)

  private def positions(s: TopicStorage): Seq[Position] =
    s.ledgers.flatMap(l => (0L to s.lastEntry(l).getOrElse(-1L)).map(Position(l.id, _)))

  private val planned = for {
    s <- histories.suchThat(positions(_).nonEmpty)
    all = Position(s.ledgers.head.id, -1) +: positions(s)
    from <- Gen.choose(0, all.size - 2)
    to   <- Gen.choose(from + 1, all.size - 1)
    odd  <- Gen.choose(0L, 3L)
    end  <- Gen.oneOf(all)
    gone <- Gen.oneOf(true, false)
    start = if (gone && from == 0) Position(3, 8) else all(from)
  } yield (s, all.slice(from + 1, to + 1), range(start, all(to)), odd, end)

  property("every entry of a range is in one slice, in order, whatever is left to the broker") {
    forAll(planned) { case (s, wanted, asked, odd, confirmed) =>
      def home(l: StoredLedger) = if (l.id / 10 % 3 == odd) Left("odd") else onBookies(l)
      val listed                = s.copy(lastConfirmed = Seq(s.lastConfirmed, confirmed).min)
      val read                  = SegmentPlanner.slices(asked, listed, home).flatMap { slice =>
        slice.segment match {
          case Some(segment) => (segment.first to segment.last).map(Position(segment.ledgerId, _))
          case None => positions(s).filter(p => p > slice.range.startExclusive && p <= slice.range.endInclusive)
        }
      }
      assertEquals(read, wanted)
    }
  }
}
