package io.github.pulsarspark.read

import scala.util.Random

import io.github.pulsarspark.cluster.{Found, StoredTopic, TopicEntry}

/** A change under a read, or what some read levels alone see, ends in the same rows or in a named error. */
class LevelChangesSuite extends LevelSuite {

  /** Reads at a place; something happens to the stored topic between the plan and its tasks. */
  private def read(topic: StoredTopic, place: ReadPlace, query: LevelQuery)(change: StoredTopic => Unit): Found = {
    val stored = levels.store(topic, place, new Random(3))
    try levels.read(stored, place, query, () => change(stored))
    finally cluster.remove(stored)
  }

  private def trim(stored: StoredTopic): Unit = {
    cluster.remove(stored)
    levels.delete(stored.home(stored.ledgers.head.id))
    cluster.add(stored.copy(ledgers = stored.ledgers.tail))
  }

  for (place <- ReadPlace.all.filter(_.level != "auto"))
    test(s"${place.name}: a ledger that is trimmed after the plan is lost") {
      val (topic, query) = made(Seq(0 -> 10, 2 -> 10), Seq(0 -> 10), Seq(3 -> 10, 0 -> 10))
      assertEquals(read(topic, place, query)(trim).error, Some("PULSAR_DATA_LOSS.TRIMMED"))
      val passed = read(topic, place, query.copy(failOnDataLoss = false))(trim)
      assertEquals(passed.rows, query.expected(topic).rows.filter(_._1.ledgerId > topic.ledgers.head.id))
      assertEquals((passed.lost, passed.error), (1L, None))
    }

  for (place <- ReadPlace.all.filter(_.level == "segment"))
    test(s"${place.name}: lost ledgers are read through the broker, or are an error without it") {
      val (topic, query)       = made(Seq(0 -> 10, 2 -> 10), Seq(0 -> 10), Seq(3 -> 10, 0 -> 10))
      def lose(t: StoredTopic) = t.ledgers.foreach { ledger =>
        levels.delete(t.home(ledger.id))
        cluster.lose(ledger.id)
      }
      val byBroker = read(topic, place.copy(level = "auto"), query)(lose)
      assertEquals(query.difference(query.expected(topic), byBroker), None)
      assertEquals(read(topic, place, query)(lose).error.map(_.takeWhile(_ != ' ')), Some("PULSAR_SEGMENT_READ_FAILED"))
    }

  test("transactions whose outcome nobody reports are left to the broker, or are an error without it") {
    val (topic, query) = first(_.aborted.nonEmpty)
    val silent         = topic.copy(reportsTransactions = false)
    for (place <- Seq(ReadPlace.bookies.copy(level = "auto"), ReadPlace.blocks.copy(level = "auto"), ReadPlace.mixed))
      assertEquals(differences(silent, topic, place, Seq(query), new Random(1)), Nil, place.name)
    for (place <- ReadPlace.all.filter(_.level == "segment"))
      assertEquals(read(silent, place, query)(_ => ()).error.map(_.takeWhile(_ != ' ')),
        Some("PULSAR_SEGMENT_READ_FAILED"), place.name)
  }

  test("the compacted view is the broker's, or an error without it") {
    val (topic, query) = made(Seq(0 -> 10, 2 -> 10), Seq(0 -> 10), Seq(3 -> 10, 0 -> 10))
    val compacted      = query.copy(options = Map("readCompacted" -> "true"))
    for (place <- Seq(ReadPlace.broker, ReadPlace.blocks.copy(level = "auto"), ReadPlace.mixed))
      assertEquals(differences(topic, topic, place, Seq(compacted), new Random(1)), Nil, place.name)
    assertEquals(read(topic, ReadPlace.blocks, compacted)(_ => ()).error, Some("PULSAR_SEGMENT_UNAVAILABLE"))
  }

  test("messages after the last one that a broker names are read, also those behind a large batch") {
    val (sent, query) = made(Seq(10 -> 10, 10 -> 10, 0 -> 10, 0 -> 10, 2 -> 10, 0 -> 10))
    val hidden        = Set(2, 3)
    val entries       = sent.entries.zipWithIndex.map { case (entry, index) =>
      if (hidden(index)) entry.copy(kind = TopicEntry.Messages(Some((1L, 1L)))) else entry
    }
    val topic = sent.copy(ledgers = Vector(sent.ledgers.head.copy(entries = entries)), aborted = Set((1L, 1L)),
      named = Some(sent.entries(1).at))
    val queries = for {
      start   <- Seq(query.from, sent.entries.head.at, sent.entries(1).at)
      options <- Seq(Map.empty[String, String], Map("readCompacted" -> "true"))
    } yield query.copy(from = start, options = options)
    assertEquals(differences(topic, topic, ReadPlace.broker, queries, new Random(1)), Nil)
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
    for (place <- ReadPlace.all.filter(_.level == "segment"))
      assertEquals(found(place, fails = true).error, Some("PULSAR_SEGMENT_UNAVAILABLE"), place.name)
  }

  test("what a broker adds to entries and keeps from its clients is seen by direct reads alone") {
    val (topic, query) = made(Seq(2 -> 10, 0 -> 10), Seq(3 -> 10))
    val hidden         = topic.copy(showsBrokerMetadata = false)
    val indexes        = ReadPlace.all.map(p =>
      levels.read(levels.store(hidden, p, new Random(2)), p, query).rows.flatMap(_._2.map(_.index))
    )
    assertEquals(indexes.head, Seq.fill(6)(-1L))
    assertEquals(indexes.slice(1, 5).distinct, Seq(Seq(98L, 99L, 199L, 97L, 98L, 99L)))
  }

  test("an entry that is no message is left out by brokers, and an error of direct reads") {
    val (topic, query) = made(Seq(2 -> 10, 0 -> 10, 0 -> 10))
    val bad            = TopicEntry(topic.entries(1).at, Array[Byte](0, 0, 1, 0, 9), TopicEntry.Unreadable, 0, 0)
    val damaged        = topic.copy(ledgers = topic.ledgers.map(l => l.copy(entries = l.entries.updated(1, bad))))
    def found(place: ReadPlace) = differences(damaged, damaged, place, Seq(query), new Random(1)).map(_._2)
    assertEquals(found(ReadPlace.broker), Nil)
    assertEquals(found(ReadPlace.bookies), Seq(s"error Some(PULSAR_ENTRY_CORRUPT at ${bad.at}), expected None"))
  }
}
