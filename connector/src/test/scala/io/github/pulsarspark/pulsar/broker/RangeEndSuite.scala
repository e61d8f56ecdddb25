package io.github.pulsarspark.pulsar.broker

import scala.collection.mutable
import scala.util.Random

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.errors.Occurrence
import io.github.pulsarspark.position.{OffsetRange, Position}
import io.github.pulsarspark.pulsar.feed.FeedBounds

class RangeEndSuite extends UnitSuite {

  private val start = Position(7, 3)

  private def ending(at: Position, readCompacted: Boolean = false) =
    new RangeEnd(OffsetRange("t", start, at), readCompacted)

  /** The conditions that are reported when the topic is known to end there. */
  private def reported(end: RangeEnd, last: Position, read: Position): Seq[String] = {
    val losses = mutable.Buffer.empty[Occurrence]
    end.topicEnds(last, read)(losses += _)
    losses.map(_.condition.name).toSeq
  }

  test("the entry at the end is the last one, one after it ends the range and is not in it") {
    val atEnd = ending(Position(7, 5))
    assert(atEnd.admits(Position(7, 4)))
    assert(!atEnd.isReached)
    assert(atEnd.admits(Position(7, 5)))
    assert(atEnd.isReached)
    val passed = ending(Position(7, 5))
    assert(!passed.admits(Position(8, 0)))
    assert(passed.isReached)
  }

  test("an end within an entry includes the entry, after which no other range can begin") {
    val within = ending(Position(7, 5, 2))
    assertEquals(within.due, Position(7, 5))
    assert(within.admits(Position(7, 5)))
    assert(within.isReached)
    assert(!within.isAt(Position(7, 5)))
  }

  test("another range may begin where this one ended, and nowhere else") {
    val end = ending(Position(7, 5))
    assert(!end.isAt(Position(7, 5)), "not reached")
    end.admits(Position(7, 5))
    assert(end.isAt(Position(7, 5)))
    assert(!end.isAt(Position(7, 4)))
    end.moveTo(Position(7, 8), Position(7, 5))
    assert(!end.isReached)
    assert(!end.isAt(Position(7, 5)))
    end.moveTo(Position(7, 5, 0), Position(7, 5))
    assert(end.isReached, "nothing is left of an entry that was read")
  }

  test("a topic that ends where everything is read has lost its end, unless compaction removed it") {
    assertEquals(reported(ending(Position(7, 5)), Position(7, 5), start), Nil)
    assertEquals(reported(ending(Position(7, 5)), Position(9, 0), start), Nil)
    assertEquals(reported(ending(Position(7, 5)), Position(7, 4), Position(7, 4)), Seq("PULSAR_DATA_LOSS.BEYOND_END"))
    assertEquals(reported(ending(Position(7, 5)), Position(6, 9), start), Seq("PULSAR_DATA_LOSS.TOPIC_RECREATED"))
    assertEquals(reported(ending(Position(7, 5)), Position(-1, -1), start), Seq("PULSAR_DATA_LOSS.TRIMMED"))
    for (last <- Seq(Position(7, 4), Position(6, 9), Position(-1, -1)))
      assertEquals(reported(ending(Position(7, 5), readCompacted = true), last, start), Nil)
  }

  test("a topic that ends before the range is read up to there, and asked again") {
    val end = ending(Position(7, 9))
    assertEquals(reported(end, Position(7, 5), start), Nil)
    assert(end.admits(Position(7, 4)))
    assert(!end.isInDoubt(Position(7, 4)))
    assert(end.admits(Position(7, 5)))
    assert(end.isInDoubt(Position(7, 5)))
    assertEquals(reported(end, Position(7, 5), Position(7, 5)), Seq("PULSAR_DATA_LOSS.BEYOND_END"))
    assert(end.isReached)
    assert(!end.isInDoubt(Position(7, 5)))
  }

  test("a topic that goes on after the last message that was named has lost nothing") {
    val end = ending(Position(7, 9))
    reported(end, Position(7, 5), start)
    assertEquals(reported(end, Position(7, 9), Position(7, 5)), Nil)
    assert(!end.isInDoubt(Position(7, 5)))
    assert(end.admits(Position(7, 9)))
    assert(end.isReached)
  }

  test("the range ends where the compacted view ends, once that is confirmed") {
    val nearer = ending(Position(7, 9), readCompacted = true)
    reported(nearer, Position(7, 5), start)
    assert(nearer.admits(Position(7, 5)))
    assert(nearer.isInDoubt(Position(7, 5)))
    assertEquals(reported(nearer, Position(7, 5), Position(7, 5)), Nil)
    assert(nearer.isReached)
    assertEquals(nearer.position, Position(7, 9), "errors name the end as planned")
    val behind = ending(Position(7, 9))
    reported(behind, start, start)
    assert(behind.isReached)
    val empty = ending(Position(7, 9))
    reported(empty, Position(7, -1), start)
    assert(empty.isReached)
  }

  test("a loss that fails the read does not end the range as if it were complete") {
    val end = ending(Position(7, 9))
    for (last <- Seq(Position(7, 5), Position(-1, -1)))
      intercept[IllegalStateException](end.topicEnds(last, Position(7, 5))(_ => throw new IllegalStateException))
    assert(!end.isReached)
    assertEquals(end.due, Position(7, 9))
  }

  test("what is due may arrive when the topic has it and the cursor is before it") {
    val end = ending(Position(7, 5))
    assert(end.mayArrive(FeedBounds(Position(7, 5), Position(7, 4)), isFirstSession = true))
    assert(!end.mayArrive(FeedBounds(Position(7, 5), Position(7, 5)), isFirstSession = true),
      "the cursor has passed it")
    assert(!end.mayArrive(FeedBounds(Position(7, 4), Position(7, 2)), isFirstSession = true),
      "the topic has it no more")
    val compacted = ending(Position(7, 5), readCompacted = true)
    assert(compacted.mayArrive(FeedBounds(Position(7, 5), Position(8, 0)), isFirstSession = true))
    assert(!compacted.mayArrive(FeedBounds(Position(7, 5), Position(8, 0)), isFirstSession = false))
  }

  for (seed <- Seq(20261125L, Random.nextLong()))
    test(
      s"a range has the entries up to its end or the topic's, whatever is named, and reports the difference (seed $seed)"
    ) {
      val random = new Random(seed)
      for (round <- 1 to 20000) {
        val clue    = s"seed $seed, round $round"
        val entries = positions(random)
        val planned = entries(random.nextInt(entries.size))
        val isPart  = random.nextInt(4) == 0
        val isView  = random.nextBoolean() // of which compaction may have removed the end
        val end     = ending(if (isPart) planned.copy(batchIndex = random.nextInt(3)) else planned, isView)
        val losses  = mutable.Buffer.empty[Occurrence]
        val read    = mutable.Buffer(start)
        val named  = if (random.nextInt(8) == 0) Position(start.ledgerId, -1) else entries(random.nextInt(entries.size))
        val goesOn = random.nextBoolean() // after what is named
        val sent   = entries.filter(goesOn || _ <= named)
        val isWhole = goesOn || named >= planned

        /** Feeds confirm the last message where nothing is to be read before it. */
        def answer(): Unit =
          end.topicEnds(if (goesOn && named <= read.last) planned else named, read.last)(losses += _)

        answer()
        while (!end.isReached)
          if (end.isInDoubt(read.last) || random.nextInt(5) == 0) answer()
          else sent.find(_ > read.last).foreach(entry => if (end.admits(entry)) read += entry)
        assertEquals(read.tail.toSeq, entries.takeWhile(_ <= (if (isWhole) planned else named)), clue)
        assertEquals(losses.size, if (isWhole || isView) 0 else 1, clue)
        assertEquals(end.isAt(read.last), isWhole && !isPart, clue)
      }
    }

  /** Entries after the start, with gaps. */
  private def positions(random: Random): Seq[Position] = (0 to random.nextInt(3)).flatMap { ledger =>
    val first = if (ledger == 0) start.entryId + 1 else 0L
    (first to first + 6).filter(_ => random.nextBoolean()).map(Position(start.ledgerId + ledger, _))
  } :+ Position(start.ledgerId + 9, 0)
}
