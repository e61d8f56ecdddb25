package io.github.pulsarspark.read.stream.limits

import scala.concurrent.duration._

import org.scalacheck.Gen
import org.scalacheck.Prop._

import io.github.pulsarspark.PropertySuite
import io.github.pulsarspark.position.{OffsetRange, Position}
import io.github.pulsarspark.read.stream.limits.LedgerSteps.Step
import io.github.pulsarspark.storage.segment.WholeLedger

class LedgerStepsSuite extends PropertySuite {

  private val size   = FakeEntries.bytes(1)
  private val before = Position(10, -1)

  /** Ledgers 10, 20, ... by their numbers of entries; the last one is being written. */
  private final class Topic(entries: Seq[Int], markers: Set[Position] = Set.empty) {
    val ledgers: Seq[WholeLedger] = entries.init.zipWithIndex.map { case (n, i) =>
      WholeLedger(10L * (i + 1), n.toLong, n * size)
    }

    val messages: Seq[Position] = entries.zipWithIndex.flatMap { case (n, i) =>
      (0L until n.toLong).map(Position(10L * (i + 1), _))
    }.filterNot(markers)

    val fake  = new FakeEntries(Map("t" -> messages.map(_ -> 1)))
    val steps =
      new LedgerSteps(
        (ranges, _) => ranges.map(r => r.topic -> ledgers.filter(_.id >= r.startExclusive.ledgerId)).toMap,
        fake.walk(_),
        1.minute
      )

    def step(from: Position, bytes: Long): Option[Step] =
      steps.ends(Seq(OffsetRange("t", from, messages.last)), TriggerBudget(bytes = Some(bytes))).get("t")

    /** The ends of all micro-batches that end with a ledger, one after the other. */
    def ends(bytes: Long): Seq[Step] =
      Iterator.iterate(step(before, bytes))(_.flatMap(s => step(s.end, bytes))).takeWhile(_.nonEmpty).flatten.toSeq
  }

  test("a micro-batch ends with the last ledger that does not exceed the limit, and one entry is read for that") {
    val topic = new Topic(Seq(10, 10, 10, 10, 10, 3))
    assertEquals(topic.ends(25 * size).map(_.end), Seq(Position(20, 9), Position(40, 9)))
    assertEquals(topic.fake.read.map(_._2).toSeq, Seq(Position(20, 9), Position(40, 9)))
    assertEquals((topic.fake.closed.size, topic.fake.leaked), (2, 0))
    assertEquals(topic.ends(90 * size).map(_.end), Seq(Position(50, 9)), "the newest ledger is not whole")
  }

  test("ledgers that fill less than half of the limit are left to the walk") {
    val topic = new Topic(Seq(10, 30, 10, 5))
    assertEquals(topic.step(before, 9 * size), None)
    assertEquals(topic.step(before, 20 * size).map(_.end), Some(Position(10, 9)))
    assertEquals(topic.step(before, 21 * size), None)
  }

  test("the ledger in which a range begins counts as a whole, unless nothing is left of it") {
    val topic = new Topic(Seq(10, 10, 10, 5))
    assertEquals(topic.step(Position(10, 3), 20 * size).map(_.end), Some(Position(20, 9)))
    assertEquals(topic.step(Position(10, 9), 20 * size).map(_.end), Some(Position(30, 9)))
    assertEquals(topic.step(Position(10, 9, 2), 20 * size).map(_.end), Some(Position(20, 9)), "inside the last batch")
  }

  test("entries without messages at the end of a ledger are no end, and are passed then") {
    val markers = Seq(20L, 30L).flatMap(id => (5L to 9L).map(Position(id, _))).toSet
    val topic   = new Topic(Seq(10, 10, 10, 10, 5), markers)
    assertEquals(topic.ends(25 * size).map(_.end), Seq(Position(20, 4), Position(40, 9)))
    assertEquals(topic.ends(24 * size).map(_.end), Seq(Position(20, 4), Position(30, 4), Position(40, 9)),
      "5 entries behind the start count")
    val without = new Topic(Seq(10, 200, 5), (5L to 199L).map(Position(20, _)).toSet)
    assertEquals(without.step(before, 210 * size), None, "its last message is too far from its end")
  }

  test("where a limit counts messages, or nothing is known, nothing is ended") {
    val topic = new Topic(Seq(10, 10, 5))
    val range = Seq(OffsetRange("t", before, Position(30, 4)))
    val bytes = TriggerBudget(bytes = Some(100 * size))
    assertEquals(topic.steps.ends(range, bytes.copy(rows = Some(1000))), Map.empty[String, Step])
    assertEquals(topic.steps.ends(range, bytes.copy(minimum = Some((1, 1)))), Map.empty[String, Step])
    assertEquals(topic.steps.ends(range, TriggerBudget.Unlimited), Map.empty[String, Step])
    assertEquals(topic.steps.ends(Seq(OffsetRange("t", before, Position(10, 9))), bytes), Map.empty[String, Step])
    val unknown = new LedgerSteps((_, _) => Map.empty, topic.fake.walk(_), 1.minute)
    assertEquals(unknown.ends(range, bytes), Map.empty[String, Step])
    assertEquals(topic.fake.opened.size, 0)
  }

  test("a limit and several partitions, equal shares") {
    val topic   = new Topic(Seq(10, 10, 5))
    val backlog = Seq("a", "b", "c").map(OffsetRange(_, before, Position(30, 4)))
    val fake    = new FakeEntries(Map("a" -> topic.messages.map(_ -> 1), "b" -> topic.messages.map(_ -> 1)))
    val ledgers = Map("a" -> topic.ledgers, "b" -> topic.ledgers.take(1))
    val steps   = new LedgerSteps((_, _) => ledgers, fake.walk(_), 1.minute)
    assertEquals(steps.ends(backlog, TriggerBudget(bytes = Some(60 * size))).view.mapValues(_.end).toMap,
      Map("a" -> Position(20, 9), "b" -> Position(10, 9)))
  }

  private val topics = for {
    entries <- Gen.nonEmptyListOf(Gen.choose(1, 30)).map(_ :+ 5)
    lost    <- Gen.someOf(entries.init.indices.flatMap(i => (0L until 30L).map(Position(10L * (i + 1), _))))
    limit   <- Gen.choose(1L, 60L)
  } yield (new Topic(entries, lost.toSet), limit * size)

  property("each end is a message, after the one before, and within the limit") {
    forAll(topics) { case (topic, limit) =>
      val ends = topic.ends(limit).map(_.end)
      assertEquals(ends, ends.distinct.sorted)
      (before +: ends).zip(ends).foreach { case (from, to) =>
        assert(topic.messages.contains(to))
        assert(topic.messages.count(p => p > from && p <= to) * size <= limit)
      }
    }
  }
}
