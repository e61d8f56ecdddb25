package io.github.pulsarspark.pulsar.journal

import java.util.concurrent.{ExecutionException, TimeUnit}

import scala.util.Using

import io.github.pulsarspark.cluster.{StoredTopic, TopicEntry, TopicLedger, WriteSuite}
import io.github.pulsarspark.errors.PulsarError
import io.github.pulsarspark.format.{Sent, StoredEntry}
import io.github.pulsarspark.position.Position
import io.github.pulsarspark.pulsar.PulsarConnection

/** Records of a [[JournalTopic]] on a scripted broker: appended by a [[JournalWriter]], found by their positions, and
  * read by a [[JournalReader]].
  */
class JournalTopicSuite extends WriteSuite {

  private lazy val connection = PulsarConnection(client())

  override def afterAll(): Unit =
    try connection.close()
    finally super.afterAll()

  private def journal(name: String): JournalTopic = {
    store(name)
    connection.journal(topic(name))
  }

  private def append(journal: JournalTopic, texts: String*): Seq[Position] =
    Using.resource(journal.writer())(to => texts.map(text => to.append(text.getBytes).get(180, TimeUnit.SECONDS)))

  /** Begins another ledger. */
  private def roll(journal: JournalTopic, id: Long): Unit = {
    val before = cluster.topic(journal.name)
    cluster.add(before.copy(ledgers = before.ledgers :+ TopicLedger(id, Vector.empty)))
  }

  private def named(body: => Any): RuntimeException with PulsarError =
    intercept[ExecutionException](body).getCause match {
      case e: RuntimeException with PulsarError => e
      case other                                => fail(s"$other")
    }

  test("records are found by their positions, all or none") {
    val topic = journal("records")
    val first = append(topic, "a", "b")
    roll(topic, first.head.ledgerId + 1000)
    val all                      = first ++ append(topic, "c", "d")
    def found(places: Position*) = topic.records(places).map(_.map(new String(_)))
    assertEquals(found(all: _*), Some(Seq("a", "b", "c", "d")))
    assertEquals(found(all(1), all(3)), Some(Seq("b", "d")))
    val missing = Seq(all(1), all(3)).map(at => at.copy(entryId = at.entryId + 1))
    missing.foreach { at =>
      assertEquals(found(at), None)
      assert(!topic.has(at))
    }
    assertEquals(found(all.head, missing.head, all.last), None)
    assertEquals(found(all.last, missing.last), None, "the last one is behind the end of the topic")
    assert(all.forall(topic.has))
  }

  test("a reader has the records after its start, and knows the last one") {
    val topic = journal("reader")
    Using.resource(topic.reader(Position.BeforeAll))(empty => assertEquals(empty.end(), None))
    val all = append(topic, "a", "b", "c")
    Using.resource(topic.reader(all.head)) { reader =>
      assertEquals(reader.end(), Some(all.last))
      for (n <- 1 to 2) {
        val record = reader.next().get(180, TimeUnit.SECONDS)
        assertEquals((record.position, new String(record.bytes)), (all(n), "abc".substring(n, n + 1)))
      }
    }
  }

  test("the root is before the first record, and moves forward alone") {
    val topic = journal("root")
    assertEquals(topic.bounds().last, None)
    val first = append(topic, "a")
    assertEquals(topic.bounds(), JournalBounds(first.head.preceding, first.lastOption))
    val all = first ++ append(topic, "b", "c")
    assertEquals(topic.bounds(), JournalBounds(all.head.preceding, all.lastOption))
    for ((to, root) <- Seq(1 -> 1, 0 -> 1, 1 -> 1, 2 -> 2)) {
      topic.moveRoot(all(to))
      assertEquals(topic.bounds().root, all(root))
    }
  }

  test("a topic with partitions is no journal") {
    store("parts-partition-0")
    assertEquals(condition(connection.journal(topic("parts")).bounds()), "PULSAR_CHECKPOINT_STORE_TOPIC")
  }

  test("a record that the broker refuses, and one that another cluster wrote, are errors with the topic") {
    val refusing = journal("refusing")
    cluster.writes.refused = Set(refusing.name)
    try assertEquals(named(append(refusing, "a")).parameters("topic"), refusing.name)
    finally cluster.writes.refused = Set.empty
    val bytes = StoredEntry(Seq(Sent.text("x")), batched = false,
      metadata = m => { m.setReplicatedFrom("elsewhere"); () }).array
    val entry = TopicEntry(Position(7000, 0), bytes, TopicEntry.Messages(), publishTime = 1, messages = 1)
    cluster.add(StoredTopic(topic("replicated"), Vector(TopicLedger(7000, Vector(entry)))))
    Using.resource(connection.journal(topic("replicated")).reader(Position.BeforeAll)) { reader =>
      val error = named(reader.next().get(180, TimeUnit.SECONDS))
      assertEquals(error.condition, "PULSAR_CHECKPOINT_STORE_TOPIC")
      assert(error.getMessage.contains("cluster elsewhere wrote and replicated records to it"), error.getMessage)
    }
  }
}
