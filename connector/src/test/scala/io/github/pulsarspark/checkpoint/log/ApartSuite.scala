package io.github.pulsarspark.checkpoint.log

import java.util.UUID

import org.scalacheck.Gen
import org.scalacheck.Prop.forAll

import io.github.pulsarspark.PropertySuite
import io.github.pulsarspark.position.Position

/** Contents that are apart from the log: what a file names is never let go, in every order of contents and records. */
class ApartSuite extends PropertySuite(samples = 500) {
  import ApartSuite._

  property("no file has a content at or before the floor, whatever came late, was renamed, copied or sent again") {
    forAll(histories) { history =>
      val states = history.scanLeft(Started)((state, record) => (state + record).state)
      states.foreach(state => assertEquals(named(state).filter(_ <= state.floor), Set.empty[Position]))
      states.zip(states.drop(1)).foreach { case (before, after) => assert(before.floor <= after.floor) }
      states.foreach(state => assert(named(state).forall(_ <= state.newest)))
    }
  }

  property("a content that nobody let go wins and loses as one in the log does") {
    forAll(histories) { history =>
      val states = history.scanLeft(Started)((state, record) => (state + record).state)
      history.zip(states).foreach { case (record, state) =>
        val folded = state + record
        record.change match {
          case Change.Put(path, overwrite, content: Apart) if folded.outcome != Outcome.Repeated =>
            val isLate = content.places.exists(_ <= state.floor)
            val isFree = overwrite || state.tree.find(path).isEmpty
            val due    =
              if (isLate) Outcome.Refused(Refusal.Late)
              else if (isFree) Outcome.Done
              else Outcome.Refused(Refusal.Exists)
            assertEquals(folded.outcome, due)
          case _ => ()
        }
      }
    }
  }

  property("the floor, the contents and what is old are the same from a snapshot on") {
    forAll(histories) { history =>
      val state = history.foldLeft(Started)((state, record) => (state + record).state)
      val read  = SnapshotFormat.parse(SnapshotFormat.bytes(state))
      assertEquals(read, Some(state))
      assertEquals(read.map(_.old(Least).toSet), Some(state.old(Least).toSet))
    }
  }

  test("killed between a content and its record: the content is let go, and its record refused if it comes later") {
    val kept = fold(put(1, "a", 10), begin(2))
    assertEquals(kept.floor, at(9))
    val others = Seq(put(3, "b", 20), delete(4, "a"), delete(5, "b"), begin(6)).foldLeft(kept)((s, r) => (s + r).state)
    assertEquals(others.floor, at(20))
    val late = others + put(7, "c", 15)
    assertEquals(late.outcome, Outcome.Refused(Refusal.Late))
    assertEquals(late.state.tree.find(Seq("c")), None)
    assertEquals((others + put(7, "c", 21)).outcome, Outcome.Done)
  }

  test("a copy counts only for the content that was copied, also after a rename and a new file of that name") {
    val one    = fold(put(1, "a", 10))
    val copied = (one + copy(2, "a", 10, 30)).state
    assertEquals(named(copied), Set(at(30)))
    assertEquals((copied + begin(3)).state.floor, at(29))
    val replaced = (one + put(2, "a", 20)).state + copy(3, "a", 10, 30)
    assertEquals(named(replaced.state), Set(at(20)))
    val moved = (one + record(2, Change.Rename(Seq("a"), Seq("b"), overwrite = false))).state + copy(3, "a", 10, 30)
    assertEquals((named(moved.state), moved.outcome), (Set(at(10)), Outcome.Refused(Refusal.Missing)))
  }

  test("a snapshot is due, and contents are old, by what was stored apart") {
    val least  = LogSize(1000, 1000000, 10 * Size)
    val puts   = put(1, "old", 1) +: (2 to 60).map(n => put(n.toLong, "new", n.toLong))
    val states = puts.scanLeft(Started)((state, record) => (state + record).state)
    assertEquals(states.indexWhere(_.isSnapshotDue(least)), 10)
    assertEquals(states.indexWhere(_.old(least).nonEmpty), 21)
    assertEquals(states.last.old(least).map(_._1), Seq(Seq("old")))
    assert(!(states.last + copy(61, "old", 1, 61)).state.old(least).exists(_._1 == Seq("old")))
  }
}

private object ApartSuite {
  private val Size   = 100L
  private val Least  = LogSize(10, 1000, 5 * Size)
  private val Writer = UUID.nameUUIDFromBytes(Array(1))

  val Started: LogState =
    LogState.created(LogRecord(UUID.nameUUIDFromBytes(Array(0)), 1, 0, Change.Created(Writer)), Writer)

  def at(entry: Long): Position = Position(1, entry)

  def apart(entry: Long): Apart = Apart(Size, 7, Seq(at(entry)))

  def record(number: Long, change: Change): LogRecord = LogRecord(Writer, number, 0, change)

  def put(number: Long, name: String, entry: Long): LogRecord =
    record(number, Change.Put(Seq(name), overwrite = true, apart(entry)))

  def delete(number: Long, name: String): LogRecord = record(number, Change.Delete(Seq(name), recursive = false))

  def begin(number: Long): LogRecord =
    record(number, Change.SnapshotBegin(UUID.nameUUIDFromBytes(Array(number.toByte))))

  def copy(number: Long, name: String, from: Long, to: Long): LogRecord =
    record(number, Change.Copied(Seq(name), Seq(at(from)), apart(to)))

  def fold(records: LogRecord*): LogState = records.foldLeft(Started)((state, record) => (state + record).state)

  def named(state: LogState): Set[Position] = state.tree.apart.flatMap(_._2.places).toSet

  private val name = Gen.oneOf("a", "b", "c")

  /** Contents are stored in the order of their places; their records come in any order, also much later or never. */
  private val change: Gen[Change] = Gen.frequency(
    6 -> Gen.zip(name, Gen.oneOf(true, false), Gen.choose(1L, 60L), Gen.choose(1, 3)).map {
      case (n, over, entry, parts) =>
        Change.Put(Seq(n), over, Apart(Size, 7, (entry until entry + parts).map(at)))
    },
    1 -> name.map(n => Change.Put(Seq(n), overwrite = true, new Content(n.getBytes))),
    2 -> name.map(n => Change.Delete(Seq(n), recursive = false)),
    2 -> Gen.zip(name, name).map { case (from, to) => Change.Rename(Seq(from), Seq(to), overwrite = true) },
    2 -> Gen.zip(name, Gen.choose(1L, 60L), Gen.choose(1L, 60L)).map { case (n, from, to) =>
      Change.Copied(Seq(n), Seq(at(from)), apart(to))
    },
    2 -> Gen.uuid.map(Change.SnapshotBegin(_))
  )

  val histories: Gen[Seq[LogRecord]] = for {
    changes <- Gen.choose(1, 30).flatMap(Gen.listOfN(_, change))
    again   <- Gen.listOf(Gen.choose(0, 29))
  } yield {
    val records = changes.zipWithIndex.map { case (change, n) => record(n + 1L, change) }
    again.filter(_ < records.size).foldLeft[Seq[LogRecord]](records)((all, n) => all :+ records(n))
  }
}
