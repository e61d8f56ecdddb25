package io.github.pulsarspark.read.stream.limits

import scala.concurrent.duration._

import org.scalacheck.Gen
import org.scalacheck.Prop._

import io.github.pulsarspark.PropertySuite
import io.github.pulsarspark.format.EntryIndex
import io.github.pulsarspark.position.{OffsetRange, Position}

class IndexStepsSuite extends PropertySuite {

  private val begin = Position(10, -1)

  private def steps(topic: NumberedEntries, returnsAll: Boolean = true) =
    new IndexSteps(topic.closed, _ => returnsAll, 1.minute, least = 1)

  /** The end of the next micro-batch; None when it is left to the walk. */
  private def step(steps: IndexSteps, topic: NumberedEntries, from: Position, rows: Long): Option[Position] = {
    val usable = steps.usable(Seq(OffsetRange("t", from, topic.last)), TriggerBudget(rows = Some(rows)))
    steps.ends(usable, rows).get("t")
  }

  /** The ends of micro-batches, one after the other. */
  private def ends(steps: IndexSteps, topic: NumberedEntries, from: Position, rows: Long): Seq[Position] =
    Iterator.iterate(step(steps, topic, from, rows))(_.flatMap(step(steps, topic, _, rows)))
      .takeWhile(_.nonEmpty).flatten.toSeq

  test("a micro-batch ends at a message that few entries are read for") {
    val topic = new NumberedEntries(Seq.fill(10)(Seq.fill(100)(100)))
    val found = ends(steps(topic), topic, begin, 25_000)
    assertEquals(found, Seq(Position(30, 49), Position(50, 99), Position(80, 49)), "the rest has fewer messages")
    assert(topic.read.size <= 80, s"${topic.read.size} entries of 1000")
    assertEquals(topic.open, 0)
  }

  test("a limit within a batch ends the micro-batch inside it") {
    val topic = new NumberedEntries(Seq(Seq(10, 1000, 10), Seq(1000), Seq(5)))
    assertEquals(step(steps(topic), topic, begin, 500), Some(Position(10, 1, 489)))
    assertEquals(step(steps(topic), topic, Position(10, 1, 489), 500), Some(Position(10, 1, 989)))
    assertEquals(step(steps(topic), topic, Position(10, 1, 989), 20), Some(Position(10, 2)), "to the end of a batch")
    assertEquals(step(steps(topic), topic, Position(10, 1, 999), 500), None, "nothing of the batch is left")
  }

  test("partitions with fewer messages in whole ledgers than the limit are left to the walk") {
    val topic = new NumberedEntries(Seq(Seq(10, 10), Seq(10, 10), Seq(10)))
    assertEquals(step(steps(topic), topic, begin, 40), Some(Position(20, 1)))
    assertEquals(step(steps(topic), topic, begin, 41), None)
    assertEquals(step(steps(topic), topic, Position(20, 1), 1), None, "only the newest ledger is left")
  }

  test("where messages have no index the ledger is passed before entries are read for one again") {
    val topic = new NumberedEntries(Seq.fill(4)(Seq.fill(10)(10)), without = Set(Position(10, 9), Position(30, 0)))
    val tried = steps(topic)
    assertEquals(step(tried, topic, begin, 50), None)
    val once = topic.read.size
    assertEquals(step(tried, topic, Position(10, 4), 50), None)
    assertEquals(topic.read.size, once)
    assertEquals(step(tried, topic, Position(10, 9), 50), Some(Position(20, 4)), "the ledger behind it")
    assertEquals(step(tried, topic, Position(20, 4), 60), None, "fewer messages than the limit before the next without")
  }

  test("a stream that skips messages reads no entries for indexes before the ledger is passed") {
    val topic = new NumberedEntries(Seq.fill(4)(Seq.fill(10)(10)))
    val tried = steps(topic, returnsAll = false)
    val reads = Seq(begin, Position(10, 4), Position(10, 9)).map { from =>
      assertEquals(step(tried, topic, from, 50), None)
      topic.read.size
    }
    assertEquals(reads, Seq(reads.head, reads.head, 2 * reads.head))
  }

  test("an entry without an index between those that have one ends the micro-batch before it") {
    val topic = new NumberedEntries(Seq(Seq.fill(100)(10), Seq(1)), without = (2L to 97L).map(Position(10, _)).toSet)
    val tried = steps(topic)
    assertEquals(step(tried, topic, begin, 500), Some(Position(10, 0)))
    assertEquals(step(tried, topic, Position(10, 0), 500), None, "the rest of the ledger is walked")
  }

  test("what cannot be read is left to the walk, or ends the micro-batch earlier") {
    val topic = new NumberedEntries(Seq(Seq.fill(100)(10), Seq.fill(10)(10), Seq(1)))
    topic.failing = Set(Position(10, 99))
    assertEquals(step(steps(topic), topic, begin, 500), None)
    topic.failing = Set(Position(10, 49))
    assertEquals(step(steps(topic), topic, begin, 500), Some(Position(10, 0)))
    assertEquals(topic.open, 0)
  }

  test("limits of another kind, streams that skip messages, and small shares are left to the walk") {
    val topic = new NumberedEntries(Seq.fill(4)(Seq.fill(10)(10)))
    val range = Seq(OffsetRange("t", begin, topic.last))
    val rows  = TriggerBudget(rows = Some(50))
    assertEquals(steps(topic).usable(range, rows).keySet, Set("t"))
    assertEquals(steps(topic).usable(range, rows.copy(bytes = Some(100))).size, 0)
    assertEquals(steps(topic).usable(range, rows.copy(minimum = Some((1, 1)))).size, 0)
    assertEquals(steps(topic).usable(range, TriggerBudget.Unlimited).size, 0)
    assertEquals(steps(topic, returnsAll = false).usable(range, rows).size, 0)
    assertEquals(new IndexSteps(topic.closed, _ => true, 1.minute).usable(range, rows).size, 0)
  }

  test("indexes that do not fit the entries are not believed") {
    def part(read: Int, indexes: EntryIndex*) =
      LedgerPart(10, 5, 4L + indexes.size, read, entry => indexes.lift((entry - 5).toInt))
    val three = Seq(EntryIndex(9, 10), EntryIndex(19, 10), EntryIndex(29, 10))
    assertEquals(part(0, three: _*).map(_.messages), Some(30L))
    assertEquals(part(9, three: _*).map(_.messages), Some(21L))
    assertEquals(part(10, three: _*), None, "nothing of the first entry is left")
    assertEquals(part(0, three.head, EntryIndex(10, 10), EntryIndex(11, 10)), None, "the producer counted one for each")
    assertEquals(part(0, three.head, three.head, three.head), None)
    assertEquals(part(0, three.take(2): _*).map(_.messages), Some(20L))
    assertEquals(part(4, three.head).map(_.messages), Some(6L))
    val far = LedgerPart(10, 0, 100, 0, Map(0L -> three(0), 1L -> three(1), 99L -> three(1), 100L -> three(2)).get)
    assertEquals(far, None, "30 messages of 101 entries")
  }

  private val topics = for {
    count <- Gen.choose(1, 8)
    size = Gen.oneOf(Gen.const(1), Gen.choose(1, 9), Gen.choose(1, 2000))
    ledgers <- Gen.listOfN(count, Gen.choose(1, 20).flatMap(Gen.listOfN(_, size)))
    rows    <- Gen.choose(1L, 3000L)
  } yield (new NumberedEntries(ledgers :+ Seq(1)), rows)

  property("a micro-batch has at most as many messages as the limit, and at least 95 % of them") {
    forAll(topics) { case (topic, rows) =>
      val found = ends(steps(topic), topic, begin, rows)
      (begin +: found).zip(found).foreach { case (from, to) =>
        val messages = topic.between(from, to)
        assert(messages <= rows, s"$messages of $rows from $from to $to")
        assert(messages * 100 >= rows * 95, s"$messages of $rows from $from to $to")
      }
      val left = topic.between((begin +: found).last, topic.last)
      assert(left <= rows + 2000, s"$left messages are left to the walk")
      assertEquals(topic.open, 0)
    }
  }
}
