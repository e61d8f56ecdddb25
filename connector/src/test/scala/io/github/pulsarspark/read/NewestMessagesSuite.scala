package io.github.pulsarspark.read

import scala.util.{Random, Using}

import org.scalacheck.Gen
import org.scalacheck.Prop.forAllNoShrink

import io.github.pulsarspark.options.ReadOptions
import io.github.pulsarspark.options.registry.{CheckedOptions, Scope}
import io.github.pulsarspark.position.{Interval, OffsetRange, Position, PruningBounds}
import io.github.pulsarspark.pulsar.PulsarConnection
import io.github.pulsarspark.read.plan.NewestMessages

/** Finds the newest messages of random topics of a scripted cluster, and reads them. */
class NewestMessagesSuite extends LevelSuite(40) {

  private def start(range: OffsetRange, messages: Int, times: Interval, firstEntries: Long): Position = {
    val settings = Map("service.url" -> cluster.serviceUrl, "topic" -> range.topic)
    val options  = ReadOptions(CheckedOptions(settings, Scope.BatchRead, _ => Nil))
    Using.resource(PulsarConnection(options.client)) { connection =>
      new NewestMessages(options, connection.broker(), firstEntries)
        .starts(Seq(NewestMessages.Wanted(range, messages, times)))(range.topic)
    }
  }

  property("the newest messages up to any end are the last ones that Pulsar's client returns, at every read level") {
    forAllNoShrink(Gen.long) { seed =>
      val dice   = new Random(seed)
      val random = topic(dice, damaged = false)
      val first  = Position(random.topic.ledgers.head.id, -1)
      val ends   = random.ends(first, Position(Long.MaxValue, 0))
      val end    = if (dice.nextBoolean()) random.topic.lastMessage else ends(dice.nextInt(ends.size))
      val some   = random.topic.entries(dice.nextInt(random.topic.entries.size)).publishTime
      val times  = if (dice.nextInt(3) == 0) Interval(toExclusive = some) else Interval.Always
      val query  = LevelQuery(first, end, bounds = PruningBounds(times))
      val all    = query.expected(random.topic).rows
      val count  = 1 + dice.nextInt(all.size + 2)
      val place  = ReadPlace.all(dice.nextInt(ReadPlace.all.size))
      val stored = levels.store(random.topic, place, dice)
      try {
        val from = start(OffsetRange(stored.name, first, end), count, times, firstEntries = 1L + dice.nextInt(5))
        assertEquals(
          levels.read(stored, place, query.copy(from = from)).rows,
          all.takeRight(count),
          s"$count messages up to $end within $times at ${place.name}, from $from: $random"
        )
      } finally cluster.remove(stored)
    }
  }

  test("a small number of messages at the end of large ledgers is found by few entries") {
    val (topic, query) = made(Seq.fill(500)(20 -> 10), Seq.fill(3)(0 -> 10))
    val stored         = levels.store(topic, ReadPlace.broker, new Random(1))
    try {
      val from = start(OffsetRange(stored.name, query.from, query.to), 50, Interval.Always, firstEntries = 32)
      val end  = topic.ledgers.head.entries.last.at
      assertEquals(from, Position(end.ledgerId, end.entryId - 2, batchIndex = 12))
    } finally cluster.remove(stored)
  }
}
