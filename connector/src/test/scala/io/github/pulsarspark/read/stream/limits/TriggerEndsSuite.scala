package io.github.pulsarspark.read.stream.limits

import scala.annotation.tailrec
import scala.concurrent.duration._

import org.scalacheck.Gen
import org.scalacheck.Prop._

import io.github.pulsarspark.PropertySuite
import io.github.pulsarspark.position.{OffsetRange, Position}

class TriggerEndsSuite extends PropertySuite {

  private val begin = Position(10, -1)

  private val sizes   = Gen.oneOf(Gen.const(1), Gen.choose(1, 9), Gen.choose(1, 60))
  private val ledgers = Gen.choose(1, 6).flatMap(Gen.listOfN(_, Gen.choose(1, 8).flatMap(Gen.listOfN(_, sizes))))
  private val topics  = for {
    names    <- Gen.choose(1, 4).map(n => Seq("a", "b", "c", "d").take(n))
    contents <- Gen.listOfN(names.size, ledgers)
    numbered <- Gen.someOf(names)
    rows     <- Gen.choose(200L, 400L) // fewer do not divide into shares
  } yield (names.zip(contents.map(new NumberedEntries(_))).toMap, numbered.toSet, rows)

  property("a trigger never has more messages than its limit, and no fewer than 95 % while there are more") {
    forAll(topics) { case (topics, numbered, rows) =>
      val fake = new FakeEntries(topics.view.mapValues(_.entries).toMap)
      val ends = new TriggerEnds(fake.walk(_), (_, _) => Map.empty,
        (range, bytes) =>
          topics(range.topic).closed(range, bytes),
        r => numbered(r.topic), 1.minute, least = 1)

      @tailrec
      def readFrom(starts: Map[String, Position]): Unit = {
        val backlog = starts.toSeq.collect { case (t, p) if p < topics(t).last => OffsetRange(t, p, topics(t).last) }
        if (backlog.nonEmpty) {
          val found = ends.of(backlog, topics.keySet, TriggerBudget(rows = Some(rows)))
          val taken = backlog.map(r => topics(r.topic).between(r.startExclusive, found(r.topic))).sum
          val left  = backlog.map(r => topics(r.topic).between(r.startExclusive, r.endInclusive)).sum
          assert(taken <= rows, s"$taken of $rows")
          assert(taken * 100 >= math.min(left, rows) * 95, s"$taken of $rows, $left are left")
          readFrom(starts ++ found)
        }
      }
      try readFrom(topics.view.mapValues(_ => begin).toMap)
      finally ends.close()
      assertEquals(topics.values.map(_.open).sum, 0)
      assertEquals(fake.leaked, 0)
    }
  }
}
