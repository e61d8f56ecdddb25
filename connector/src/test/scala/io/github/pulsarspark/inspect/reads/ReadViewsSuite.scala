package io.github.pulsarspark.inspect.reads

import org.apache.hadoop.conf.Configuration
import org.apache.logging.log4j.Level
import org.apache.logging.log4j.core.config.Configurator
import org.apache.spark.sql.types.ArrayType

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.cluster.{LedgerHome, ScriptedCluster, StoredTopic, TopicEntry, TopicLedger}
import io.github.pulsarspark.errors.PulsarError
import io.github.pulsarspark.format.{Sent, StoredEntry}
import io.github.pulsarspark.inspect.topics.{LedgersView, PartitionsView}
import io.github.pulsarspark.inspect.view.{MetadataRequest, MetadataView}
import io.github.pulsarspark.options.MetadataOptions
import io.github.pulsarspark.options.registry.RawOptions
import io.github.pulsarspark.position.{Position, PulsarOffset}

/** Tables about reads, on a scripted cluster: figures, and those that are not known. [[UnreadEntries]] has those of the
  * lag, after [[ReadPositions]], with [[FirstEntries]].
  */
class ReadViewsSuite extends UnitSuite {

  private val cluster = new ScriptedCluster
  private val loggers = Seq("org.apache.pulsar", "io.github.pulsarspark")

  override def beforeAll(): Unit = {
    loggers.foreach(Configurator.setLevel(_, Level.OFF))
    store("t", 10L                 -> Seq(2, 2), 11L -> Seq(3, 1, 1), 12L -> Seq(1))
    store("parts-partition-0", 20L -> Seq(1))
    store("parts-partition-1", 30L -> Nil)
    store("marked", 40L            -> Seq(0, 0, 4))
  }

  override def afterAll(): Unit =
    try cluster.close()
    finally loggers.foreach(Configurator.setLevel(_, Level.INFO))

  private def full(name: String) = s"persistent://public/default/$name"

  /** Stores ledgers of entries with so many messages each, 0 for a marker, all of them published in 2001. */
  private def store(name: String, ledgers: (Long, Seq[Int])*): Unit = cluster.add(StoredTopic(
    full(name),
    ledgers.map { case (id, entries) =>
      TopicLedger(
        id,
        entries.zipWithIndex.map { case (count, i) =>
          val marks = (m: org.apache.pulsar.common.api.proto.MessageMetadata) => {
            m.setPublishTime(1000000000000L)
            if (count == 0) m.setMarkerType(1)
            ()
          }
          val stored = StoredEntry(Seq.fill(math.max(1, count))(Sent.text("x")), batched = true, metadata = marks)
          val kind   = if (count == 0) TopicEntry.Marker else TopicEntry.Messages()
          TopicEntry(Position(id, i.toLong), stored.array, kind, 1000000000000L, count)
        }.toVector
      )
    }.toVector,
    home = id => if (id == 11) LedgerHome.Unknown else LedgerHome.Bookie
  ))

  private val byAdmin = "admin.url" -> cluster.adminUrl

  private def request(view: MetadataView, columns: Seq[String], set: Seq[(String, String)]) = {
    val raw     = new RawOptions(Map("metadata" -> view.name, "service.url" -> cluster.serviceUrl) ++ set, _ => Nil)
    val options = MetadataOptions(view.name, raw)
    view.check(options)
    new MetadataRequest(options, columns.toSet, new Configuration, 1)
  }

  /** Rows of some columns, with a dash for null. */
  private def rows(view: MetadataView, columns: String*)(set: (String, String)*): Seq[String] =
    view.rows(request(view, columns, set)).map { row =>
      columns.map { name =>
        val i = view.columns.fieldIndex(name)
        if (row.isNullAt(i)) "-"
        else view.columns(i).dataType match {
          case ArrayType(_, _) => row.getArray(i).numElements().toString
          case kind            => row.get(i, kind).toString
        }
      }.mkString(" ")
    }.toList

  private def lag(set: (String, String)*) = rows(LagView, "position", "last", "entries", "messages")(set: _*)

  test("lag within a ledger: the entries after a position, each with as many messages as the first of them") {
    assertEquals(lag("topic" -> "t", "startingOffsets" -> s"""{"${full("t")}": "after 11:0"}"""),
      Seq("11:0 12:0 - -"), "in several ledgers, of which nobody knows")
    assertEquals(lag("topic" -> "t", "startingOffsets" -> s"""{"${full("t")}": "after 11:0"}""", byAdmin),
      Seq("11:0 12:0 3 3"))
  }

  test("lag over ledgers: the first unread entry speaks for all of them") {
    assertEquals(lag("topic" -> "t", "startingOffsets" -> "earliest", byAdmin), Seq("10:-1 12:0 6 12"))
    assertEquals(lag("topic" -> "marked", "startingOffsets" -> "earliest"), Seq("40:-1 40:2 3 12"), "behind markers")
  }

  test("no lag: nothing is unread, and a partition without messages has none") {
    assertEquals(lag("topic" -> "t", "startingOffsets" -> "latest"), Seq("12:0 12:0 0 0"))
    assertEquals(lag("topic" -> "parts", "startingOffsets" -> "earliest"), Seq("20:-1 20:0 1 1", "30:-1 - 0 0"))
  }

  test("lag in bytes and seconds: of the ledgers, and of the oldest unread message") {
    val start = Seq("topic" -> "t", "startingOffsets" -> "earliest")
    assertEquals(rows(LagView, "bytes")(start: _*), Seq("-"))
    val bytes = cluster.topic(full("t")).entries.map(_.bytes.length.toLong).sum
    assertEqualsDouble(rows(LagView, "bytes")(start :+ byAdmin: _*).head.toDouble, bytes.toDouble, delta = 10.0)
    val age = rows(LagView, "seconds")(start: _*).head.toLong
    assert(age > 700000000L, s"$age seconds since 2001")
    assertEquals(rows(LagView, "seconds")("topic" -> "t", "startingOffsets" -> "latest"), Seq("0"))
  }

  test("lag of the progress of a stream, which names its partitions") {
    val progress = PulsarOffset.of(Seq(full("t") -> Position(12, 0), full("gone") -> Position(9, 9))).json
    assertEquals(lag("startingOffsets" -> progress), Seq("9:9 - - -", "12:0 12:0 0 0"))
  }

  private def refused(condition: String)(set: (String, String)*): Unit =
    assertEquals(intercept[RuntimeException with PulsarError](lag(set: _*)).condition, condition)

  test("lag needs one way to say who reads, with what it needs") {
    refused("PULSAR_OPTION_INCOMPLETE")("topic"      -> "t")
    refused("PULSAR_OPTION_CONFLICT")("topic"        -> "t", "startingOffsets"      -> "latest", "checkpoint" -> "/c")
    refused("PULSAR_TOPIC_OPTION")("startingOffsets" -> "latest")
    refused("PULSAR_OPTION_INCOMPLETE")("topic"      -> "t", "progressSubscription" -> "s")
    refused("PULSAR_SUBSCRIPTION_NOT_FOUND")("topic" -> "t", "progressSubscription" -> "s", byAdmin)
  }

  test("positions of a start, as values of both options") {
    assertEquals(rows(PositionsView, "position", "startingOffset")("topic" -> "t", "startingOffsets" -> "earliest"),
      Seq("10:-1 after 10:-1"))
    assertEquals(
      rows(PositionsView, "partition", "position")("topic" -> "parts", "startingTime" -> "2000-01-01T00:00:00Z"),
      Seq("0 20:-1", "1 30:-1")
    )
  }

  test("the plan of a read: where each slice is, and why the broker delivers it") {
    assertEquals(rows(PlanView, "task", "after", "through", "tier", "entries", "reason")("topic" -> "t"),
      Seq("0 10:-1 12:0 broker - admin.url is not set"))
    val located = rows(PlanView, "tier", "through", "entries")("topic" -> "t", byAdmin)
    assertEquals(located.sorted, Seq("bookies 10:1 2", "bookies 12:0 1", "broker 11:2 3"))
  }

  test("ledgers: the open one with what it has by now") {
    assertEquals(
      rows(LedgersView, "ledgerId", "entries", "state", "offloadedTo", "bookies")("topic" -> "t", byAdmin),
      Seq("10 2 closed - 1", "11 3 closed - -", "12 1 open - 1")
    )
    val closed = rows(LedgersView, "closedAt")("topic" -> "t", byAdmin)
    assertEquals(closed.take(2).map(_ == "-"), Seq(false, false))
  }

  test("partitions: their ends by brokers, their sizes by the admin service") {
    val columns = Seq("partition", "first", "last", "entries", "ledgers")
    assertEquals(rows(PartitionsView, columns: _*)("topic" -> "parts"), Seq("0 20:0 20:0 - -", "1 - - - -"))
    assertEquals(rows(PartitionsView, columns: _*)("topic" -> "parts", byAdmin), Seq("0 20:0 20:0 1 1", "1 - - 0 1"))
  }
}
