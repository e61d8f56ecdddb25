package io.github.pulsarspark.read

import java.util.concurrent.atomic.AtomicLong

import scala.util.Random

import io.netty.buffer.ByteBufUtil
import org.apache.logging.log4j.Level
import org.apache.logging.log4j.core.config.Configurator
import org.scalacheck.Gen
import org.scalacheck.Prop.forAllNoShrink

import io.github.pulsarspark.PropertySuite
import io.github.pulsarspark.cluster.{RandomTopic, ScriptedCluster, StoredTopic, TopicEntry, TopicLedger}
import io.github.pulsarspark.format.{Sent, StoredEntry}
import io.github.pulsarspark.position.Position
import io.github.pulsarspark.pulsar.PulsarConnection

/** Every read level finds what Pulsar's own client finds, from the plan to the rows: the broker, bookies, both formats
  * of offloaded ledgers, and all of them in one topic. The real clients of the connector read from a scripted cluster.
  */
class LevelParitySuite extends PropertySuite(12) {
  import LevelParitySuite._

  private val cluster = new ScriptedCluster
  private val levels  = new ReadLevels(cluster)
  private val ids     = new AtomicLong(100)

  override def beforeAll(): Unit = Loggers.foreach(Configurator.setLevel(_, Level.ERROR))

  override def afterAll(): Unit =
    try cluster.close()
    finally Loggers.foreach(Configurator.setLevel(_, Level.INFO))

  private def topic(dice: Random, damaged: Boolean): RandomTopic =
    RandomTopic(dice, s"persistent://public/default/t${ids.get}", ids.getAndAdd(1000), damaged)

  property("any range of any topic, in one read or in micro-batches, whatever of it is selected") {
    forAllNoShrink(Gen.long)(seed => compare(new Random(seed), damaged = false))
  }

  property("any range of a topic with a damaged entry") {
    forAllNoShrink(Gen.long)(seed => compare(new Random(seed), damaged = true))
  }

  private def compare(dice: Random, damaged: Boolean): Unit = {
    val random  = topic(dice, damaged)
    val queries = Seq.fill(2)(LevelQuery.random(dice, random)).flatten
    for {
      place            <- ReadPlace.all
      (query, problem) <- differences(random.topic, random.topic, place, queries, dice)
    } fail(s"${place.name}: $query: $problem\n$random")
  }

  /** Differences between reads of a topic at a place and those of another topic by Pulsar's client. */
  private def differences(
      topic: StoredTopic,
      client: StoredTopic,
      place: ReadPlace,
      queries: Seq[LevelQuery],
      dice: Random
  ): Seq[(LevelQuery, String)] = {
    val stored = levels.store(topic, place, dice)
    try queries.flatMap(q => q.difference(q.expected(client), levels.read(stored, place, q)).map(q -> _))
    finally {
      queries.flatMap(_.stream).distinct.foreach(PulsarConnection.ended)
      cluster.remove(stored)
    }
  }

  /** The first topic of a fixed series that has something, and a read of all of it. */
  private def first(has: StoredTopic => Boolean): (StoredTopic, LevelQuery) = {
    val found = Iterator.from(1).map(i => topic(new Random(i.toLong), damaged = false))
      .find(t => t.trimmed.isEmpty && has(t.topic)).get.topic
    (found, LevelQuery(Position(found.ledgers.head.id, -1), found.lastMessage))
  }

  for (place <- ReadPlace.all) test(s"control, ${place.name}: a ledger that lacks its last entry is noticed") {
    val (whole, query) =
      first(t => t.ledgers.size > 2 && t.ledgers.head.entries.size > 1 && isPlain(t.ledgers.head.entries.last))
    val shorter = whole.ledgers.head.copy(entries = whole.ledgers.head.entries.init)
    val lacking = whole.copy(ledgers = shorter +: whole.ledgers.tail)
    val found   = differences(lacking, whole, place, Seq(query), new Random(1))
    assert(found.exists(_._2.startsWith("missing rows")), found)
    assertEquals(differences(lacking, lacking, place, Seq(query), new Random(1)), Nil)
  }

  for (place <- ReadPlace.all) test(s"control, ${place.name}: messages of an aborted transaction are noticed") {
    val (whole, query) = first(_.aborted.nonEmpty)
    val found          = differences(whole.copy(aborted = Set.empty), whole, place, Seq(query), new Random(1))
    assert(found.exists(_._2.startsWith("strange rows")), found)
  }

  private def entry(at: Position, batch: Int, bytes: Int): TopicEntry = {
    val sent   = Seq.fill(math.max(1, batch))(Sent.text("x" * bytes))
    val stored = StoredEntry(sent, batched = batch > 0, brokerIndex = Some(100 * at.entryId + 99))
    TopicEntry(at, ByteBufUtil.getBytes(stored.bytes), TopicEntry.Messages(), publishTime = 1700000000123L, batch)
  }

  /** Ledgers of such entries: messages in a batch, 0 for none, and bytes of each. */
  private def made(ledgers: Seq[(Int, Int)]*): (StoredTopic, LevelQuery) = {
    val first = ids.getAndAdd(1000)
    val topic = StoredTopic(
      s"persistent://public/default/t$first",
      ledgers.zipWithIndex.map { case (entries, l) =>
        TopicLedger(first + l,
          entries.zipWithIndex.map { case ((batch, bytes), e) =>
            entry(Position(first + l, e.toLong), batch, bytes)
          }.toVector)
      }.toVector
    )
    (topic, LevelQuery(Position(first, -1), topic.lastMessage))
  }

  test("messages much larger than those before a gap, of which few fit into the read-ahead, are read") {
    val (topic, query) = made(Seq(40 -> 10), Seq.fill(12)(0 -> 3000))
    val little         = query.copy(options = Map("readAheadBytes" -> "2k"))
    for (place <- ReadPlace.all)
      assertEquals(differences(topic, topic, place, Seq(little), new Random(1)), Nil, place.name)
  }

  // Where tiers differ, and the pages say so.

  test("an end that does not exist is lost where the broker reads, and not to be had without it") {
    val (topic, query) = first(t => isPlain(t.entries.last))
    val beyond         =
      query.copy(from = topic.lastMessage, to = topic.lastMessage.copy(entryId = topic.lastMessage.entryId + 5))
    def found(place: ReadPlace, fails: Boolean) =
      levels.read(levels.store(topic, place, new Random(1)), place, beyond.copy(failOnDataLoss = fails))
    assertEquals(found(ReadPlace.broker, fails = true).error, Some("PULSAR_DATA_LOSS.BEYOND_END"))
    assertEquals(found(ReadPlace.mixed, fails = false).lost, 1L)
    for (place <- Seq(ReadPlace.bookies, ReadPlace.blocks, ReadPlace.mapFile))
      assertEquals(found(place, fails = true).error, Some("PULSAR_SEGMENT_UNAVAILABLE"), place.name)
  }

  test("what a broker adds to entries and keeps from its clients is seen by direct reads alone") {
    val (topic, query) = made(Seq(2 -> 10, 0 -> 10), Seq(3 -> 10))
    val hidden         = topic.copy(showsBrokerMetadata = false)
    val indexes        = ReadPlace.all.map(p =>
      levels.read(levels.store(hidden, p, new Random(2)), p, query).rows.flatMap(_._2.map(_.index))
    )
    assertEquals(indexes.head, Seq.fill(6)(-1L))
    assertEquals(indexes.slice(1, 4).distinct, Seq(Seq(98L, 99L, 199L, 97L, 98L, 99L)))
  }

  test("an entry that is no message is left out by brokers, and an error of direct reads") {
    val (topic, query) = made(Seq(2 -> 10, 0 -> 10, 0 -> 10))
    val bad            = TopicEntry(topic.entries(1).at, Array[Byte](0, 0, 1, 0, 9), TopicEntry.Unreadable, 0, 0)
    val damaged        = topic.copy(ledgers = topic.ledgers.map(l => l.copy(entries = l.entries.updated(1, bad))))
    def found(place: ReadPlace) = differences(damaged, damaged, place, Seq(query), new Random(1)).map(_._2)
    assertEquals(found(ReadPlace.broker), Nil)
    assertEquals(found(ReadPlace.bookies), Seq(s"error Some(PULSAR_ENTRY_CORRUPT at ${bad.at}), expected None"))
  }

  private def isPlain(entry: TopicEntry) = entry.kind == TopicEntry.Messages(None)
}

private object LevelParitySuite {

  /** Loggers that would write thousands of lines. */
  val Loggers: Seq[String] = Seq("org.apache.pulsar", "io.github.pulsarspark")
}
