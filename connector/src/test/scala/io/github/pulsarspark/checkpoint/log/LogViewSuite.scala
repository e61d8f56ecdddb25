package io.github.pulsarspark.checkpoint.log

import java.util.UUID

import scala.annotation.tailrec

import org.scalacheck.Prop.forAll
import org.scalacheck.rng.Seed
import org.scalacheck.Gen

import io.github.pulsarspark.PropertySuite
import io.github.pulsarspark.position.Position

/** Records that a JVM folds when the broker has stored them, and those that arrive, in any order of both: each state is
  * that of a prefix of the log.
  */
class LogViewSuite extends PropertySuite(samples = 300) {
  import LogViewSuite._

  property("three writers, whose records are stored and arrive in any order: states of prefixes of the log alone") {
    forAll(runs)(run => assertEquals(problem(run, _.stored(_, _)), None))
  }

  test("records are folded before they arrive, and a rule without the check for records between is noticed") {
    val some  = (0L until 100L).flatMap(n => runs.apply(Gen.Parameters.default, Seed(n)))
    val early = some.count(_.outcomes(_.stored(_, _)).exists(_.isEarly))
    assert(early > 30, early)
    def always(view: LogView, record: LogRecord, at: Position) =
      if (at > view.place) view.state.toOption.map(view.after(_, record, at)) else None
    val wrong = some.count(problem(_, always).isDefined)
    assert(wrong > 20, wrong)
  }

  test("a place in another ledger, or one that no record has, is not the next one") {
    val first  = LogRecord(LogStateSuite.Writers.head, 1, 0, Change.Created(LogStateSuite.Store))
    val record = LogRecord(LogStateSuite.Writers(1), 1, 0, Change.MakeFolder(Seq("d")))
    val view   = LogView(Right(LogState.created(first, LogStateSuite.Store)), Position(7, 3))
    val places = Seq(Position(7, 4), Position(7, 3), Position(7, 5), Position(8, 0), Position(8, 4), Position(-1, -1))
    assertEquals(places.map(view.stored(record, _).isDefined), Seq(true, false, false, false, false, false))
    val empty = LogView.begin(Position(7, -1))
    assertEquals(empty.stored(first, Position(7, 0)), None)
    assertEquals(view.copy(place = Position(7, -1)).stored(record, Position(7, 0)), None)
  }
}

private object LogViewSuite {

  /** A way to fold a record that is stored. */
  type Rule = (LogView, LogRecord, Position) => Option[(LogView, Folded)]

  /** Something that a JVM learns: of the next one of its own records that it is stored, or the next record. */
  sealed trait Event
  case object Stored  extends Event
  case object Arrived extends Event

  /** View after an event, and what became of the record if it is one of this JVM. */
  final case class Learned(view: LogView, own: Option[Outcome], isEarly: Boolean)

  /** A log, with the places of its records, as the JVM of one of its writers learns of it. */
  final case class Run(log: Seq[(LogRecord, Position)], writer: UUID, events: Seq[Event]) {

    def outcomes(rule: Rule): Seq[Learned] = learn(LogView.begin(Position.BeforeAll), log,
      log.filter(_._1.writer == writer), events, rule, Vector.empty)

    @tailrec private def learn(
        view: LogView,
        arriving: Seq[(LogRecord, Position)],
        storing: Seq[(LogRecord, Position)],
        left: Seq[Event],
        rule: Rule,
        found: Vector[Learned]
    ): Seq[Learned] = left match {
      case Stored +: rest if storing.nonEmpty =>
        val (record, at) = storing.head
        val next         = rule(view, record, at)
        val learned      = next.map { case (after, folded) => Learned(after, Some(folded.outcome), isEarly = true) }
        learn(next.fold(view)(_._1), arriving, storing.tail, rest, rule, found ++ learned)
      case (Stored | Arrived) +: rest if arriving.nonEmpty =>
        val (record, at) = arriving.head
        val learned      = Option.when(at > view.place)(arrived(view, record, at))
        learn(learned.fold(view)(_.view), arriving.tail, storing, rest, rule, found ++ learned)
      case _ +: rest => learn(view, arriving, storing, rest, rule, found)
      case _         => found
    }

    private def arrived(view: LogView, record: LogRecord, at: Position) = view.state match {
      case Left(replay) => Learned(LogView(replay + record, at, view.store), None, isEarly = false)
      case Right(state) =>
        val (next, folded) = view.after(state, record, at)
        Learned(next, Option.when(record.writer == writer)(folded.outcome), isEarly = false)
    }
  }

  /** Finds what is wrong with the states of a run: each has to be that of all records up to its place, and so has the
    * outcome of an own record that is there.
    */
  def problem(run: Run, rule: Rule): Option[String] = {
    val folded = run.log.tail.scanLeft((LogStateSuite.start(run.log.head._1), Option.empty[Outcome], run.log.head._2)) {
      case ((state, _, _), (record, at)) =>
        val next = state + record
        (next.state, Some(next.outcome), at)
    }
    val known = folded.map { case (state, outcome, at) => at -> (state -> outcome) }.toMap
    val found = run.outcomes(rule)
    val wrong = found.filterNot { learned =>
      val (state, outcome) = known(learned.view.place)
      learned.view.state == Right(state) && learned.own.forall(outcome.contains)
    }
    val isWhole = found.lastOption.exists(_.view.place == run.log.last._2)
    wrong.headOption.map(w => s"another state at ${w.view.place}").orElse(Option.when(!isWhole)("records are missing"))
  }

  /** Runs in which all records arrive. An own record is known to be stored while some others are still to arrive, or
    * after it has arrived itself.
    */
  val runs: Gen[Run] = for {
    log    <- LogStateSuite.logs
    sizes  <- Gen.listOfN(log.size, Gen.choose(1, 9))
    writer <- Gen.oneOf(LogStateSuite.Writers)
    early  <- Gen.listOfN(log.size, Gen.choose(-2, 3))
  } yield {
    val places = sizes.zipWithIndex.flatMap { case (size, ledger) =>
      (0 until size).map(entry => Position(ledger + 1L, entry.toLong))
    }
    val own    = log.indices.filter(log(_).writer == writer)
    val known  = own.map(i => i - early(i)).scanLeft(0)(_ max _).tail // in their order
    val events = log.indices.flatMap(i => Seq.fill(known.count(_ == i))(Stored) :+ Arrived)
    Run(log.zip(places), writer, events ++ Seq.fill(known.count(_ >= log.size))(Stored))
  }
}
