package io.github.pulsarspark.pulsar.feed

import scala.util.Random

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.position.Position
import io.github.pulsarspark.pulsar.feed.ContinuityCheck.Verdict

class ContinuityCheckSuite extends UnitSuite {

  private def opened(read: Position, cursor: Position, readCompacted: Boolean = false): ContinuityCheck = {
    val check = new ContinuityCheck(read, readCompacted)
    check.opened(cursor, session = 1)
    check
  }

  test("the entry after the last one is taken without a request") {
    assertEquals(opened(Position(5, 3), Position(5, 2)).arrived(Position(5, 4), 1), Verdict.Take)
  }

  test("the last entry read arrives once more after each opening, and never else") {
    val check = opened(Position(5, 3), Position(5, 2))
    assertEquals(check.arrived(Position(5, 3), 1), Verdict.Skip)
    assertEquals(check.arrived(Position(5, 3), 1), Verdict.Reject)
    assertEquals(check.arrived(Position(5, 1), 1), Verdict.Reject)
  }

  test("an answer of the broker proves all entries that had arrived when it was asked") {
    val check = opened(Position(5, 3), Position(5, 2))
    assertEquals(check.arrived(Position(5, 6), 1), Verdict.Ask)
    assertEquals(check.answered(Position(5, 6), Position(5, 9), Position(5, 2)), Verdict.Take)
    check.took(Position(5, 6))
    assertEquals(check.arrived(Position(5, 9), 1), Verdict.Take)
    check.took(Position(5, 9))
    assertEquals(check.arrived(Position(5, 12), 1), Verdict.Ask)
  }

  test("a cursor beyond the last entry read is a loss when two openings find it there") {
    val check = opened(Position(5, 3), Position(5, 2))
    assertEquals(check.answered(Position(7, 0), Position(7, 0), Position(6, 9)), Verdict.Reopen)
    check.opened(Position(6, 9), session = 2)
    assertEquals(check.answered(Position(7, 0), Position(7, 0), Position(6, 9)), Verdict.Reopen)
    check.opened(Position(6, 9), session = 3)
    assertEquals(check.answered(Position(7, 0), Position(7, 0), Position(6, 9)), Verdict.Lost)
  }

  test("gaps of the compacted part are trusted within one session, and not after a reconnect") {
    val check = opened(Position(5, 3), Position(9, 0), readCompacted = true)
    assertEquals(check.arrived(Position(5, 8), 1), Verdict.Take)
    assertEquals(check.arrived(Position(5, 8), 2), Verdict.Reopen)
    assertEquals(opened(Position(5, 3), Position(9, 0)).arrived(Position(5, 8), 1), Verdict.Ask)
  }

  for (seed <- Seq(20261124L, Random.nextLong()))
    test(s"every message is taken once, or lies in a reported gap that was trimmed (seed $seed)") {
      val random = new Random(seed)
      for (round <- 1 to 20000) new Run(random, clue = s"seed $seed, round $round").check()
    }

  /** A read of one partition. Some entries are markers, which a broker acknowledges itself and nobody receives. While
    * the feed is read, the topic is trimmed and connections are lost.
    */
  private final class Run(random: Random, clue: String) {
    private val ledgers = (0 to random.nextInt(4)).map(_ => 1 + random.nextInt(6))
    private val entries =
      ledgers.zipWithIndex.flatMap { case (size, ledger) => (0 until size).map(Position(10L + ledger, _)) }
    private val isMessage = entries.map(_ => random.nextInt(3) > 0)
    private val start     = random.nextInt(entries.size + 1) - 1
    private val tested    = new ContinuityCheck(place(start), readCompacted = false)

    private var session    = 0
    private var trimmed    = -1 // the last entry that is gone
    private var cursor     = -1 // what the broker has as acknowledged
    private var dispatched = -1 // the last entry that the broker has dispatched or passed over
    private var queue      = Vector.empty[Int]
    private var trims      = random.nextInt(3)
    private var cuts       = random.nextInt(3)
    private var taken      = Vector.empty[Int]
    private var lost       = Vector.empty[(Int, Int)]

    private def place(entry: Int) = if (entry < 0) Position(10, -1) else entries(entry)

    def check(): Unit = {
      open()
      var steps = 0
      while (step()) {
        steps += 1
        assert(steps < 1000, s"no end: $clue")
      }
      assertEquals(taken, taken.distinct.sorted, clue)
      val readable = (start + 1 until entries.size).filter(isMessage)
      for (missing <- readable.diff(taken)) {
        assert(missing <= trimmed, s"${place(missing)} is there and was not read: $clue")
        assert(missing > taken.lastOption.getOrElse(start) || lost.exists { case (a, b) => a < missing && missing < b },
          s"${place(missing)} was lost in silence: $clue")
      }
      for ((from, to) <- lost) assert(trimmed > from, s"nothing between ${place(from)} and ${place(to)} is gone: $clue")
    }

    private def open(): Unit = {
      session += 1
      val last = math.max(entries.indexOf(tested.last), -1)
      cursor = math.max(math.max(last - 1, -1), trimmed)
      dispatched = cursor
      queue = Vector.empty
      tested.opened(place(cursor), session)
    }

    /** The broker dispatches more entries, and acknowledges markers which follow its cursor. */
    private def dispatch(): Unit = {
      for (_ <- 0 to random.nextInt(4) if dispatched + 1 < entries.size) {
        dispatched += 1
        if (isMessage(dispatched)) queue :+= dispatched
      }
      while (cursor < dispatched && !isMessage(cursor + 1)) cursor += 1
    }

    private def disturb(): Unit = {
      if (trims > 0 && random.nextInt(4) == 0) {
        trims -= 1
        trimmed = math.max(trimmed, random.nextInt(entries.size))
        cursor = math.max(cursor, trimmed)
        dispatched = math.max(dispatched, trimmed)
      }
      if (cuts > 0 && random.nextInt(6) == 0) {
        cuts -= 1
        open()
      }
    }

    private def step(): Boolean = {
      disturb()
      if (queue.isEmpty) dispatch()
      if (queue.isEmpty) dispatched + 1 < entries.size
      else {
        val entry   = queue.head
        val verdict = tested.arrived(place(entry), session) match {
          case Verdict.Ask =>
            dispatch()
            val newest = queue.last
            disturbTrims()
            tested.answered(place(entry), place(newest), place(cursor))
          case decided => decided
        }
        queue = queue.tail
        if (verdict == Verdict.Lost) lost :+= ((entries.indexOf(tested.last), entry))
        if (verdict == Verdict.Take || verdict == Verdict.Lost) {
          taken :+= entry
          tested.took(place(entry))
        }
        assert(verdict != Verdict.Reject, s"${place(entry)} arrives twice: $clue")
        if (verdict == Verdict.Reopen) open()
        true
      }
    }

    /** Disturbs the topic between the arrival of an entry and the broker's response, without cutting connections. */
    private def disturbTrims(): Unit = {
      val kept = cuts
      cuts = 0
      disturb()
      cuts = kept
    }
  }
}
