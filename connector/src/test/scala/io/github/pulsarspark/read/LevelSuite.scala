package io.github.pulsarspark.read

import java.util.concurrent.atomic.AtomicLong

import scala.util.Random

import org.apache.logging.log4j.Level
import org.apache.logging.log4j.core.config.Configurator

import io.github.pulsarspark.PropertySuite
import io.github.pulsarspark.cluster.{RandomTopic, ScriptedCluster, StoredTopic, TopicEntry, TopicLedger}
import io.github.pulsarspark.format.{Sent, StoredEntry}
import io.github.pulsarspark.position.Position
import io.github.pulsarspark.pulsar.BrokerEntries

/** Reads of topics of a scripted cluster at every read level, with the connector's real clients. */
abstract class LevelSuite(samples: Int = 1) extends PropertySuite(samples) {
  import LevelSuite._

  protected val cluster    = new ScriptedCluster
  private[read] val levels = new ReadLevels(cluster)
  private val ids          = new AtomicLong(100)

  override def beforeAll(): Unit = Loggers.foreach(Configurator.setLevel(_, Level.OFF))

  override def afterAll(): Unit =
    try cluster.close()
    finally Loggers.foreach(Configurator.setLevel(_, Level.INFO))

  protected def topic(dice: Random, damaged: Boolean): RandomTopic =
    RandomTopic(dice, s"persistent://public/default/t${ids.get}", ids.getAndAdd(1000), damaged)

  /** Differences between reads of a topic at a place and those of another topic by Pulsar's client. */
  private[read] def differences(
      topic: StoredTopic,
      client: StoredTopic,
      place: ReadPlace,
      queries: Seq[LevelQuery],
      dice: Random
  ): Seq[(LevelQuery, String)] = {
    val stored = levels.store(topic, place, dice)
    try queries.flatMap(q => q.difference(q.expected(client), levels.read(stored, place, q)).map(q -> _))
    finally {
      queries.flatMap(_.stream).distinct.foreach(BrokerEntries.ended)
      cluster.remove(stored)
    }
  }

  /** The first topic of a fixed series that has something, and a read of all of it. */
  private[read] def first(has: StoredTopic => Boolean): (StoredTopic, LevelQuery) = {
    val found = Iterator.from(1).map(i => topic(new Random(i.toLong), damaged = false))
      .find(t => t.trimmed.isEmpty && has(t.topic)).get.topic
    (found, LevelQuery(Position(found.ledgers.head.id, -1), found.lastMessage))
  }

  private def entry(at: Position, batch: Int, bytes: Int): TopicEntry = {
    val sent   = Seq.fill(math.max(1, batch))(Sent.text("x" * bytes))
    val stored = StoredEntry(sent, batched = batch > 0, brokerIndex = Some(100 * at.entryId + 99))
    TopicEntry(at, stored.array, TopicEntry.Messages(), publishTime = 1700000000123L, batch)
  }

  /** Ledgers of such entries: messages in a batch, 0 for none, and bytes of each. */
  private[read] def made(ledgers: Seq[(Int, Int)]*): (StoredTopic, LevelQuery) = {
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

  protected def isPlain(entry: TopicEntry) = entry.kind == TopicEntry.Messages(None)
}

private object LevelSuite {

  /** Loggers that would write thousands of lines. */
  val Loggers: Seq[String] = Seq("org.apache.pulsar", "org.apache.bookkeeper", "io.github.pulsarspark")
}
