package io.github.pulsarspark.write

import scala.collection.mutable
import scala.concurrent.duration._

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.{StringType, StructField, StructType}
import org.apache.spark.unsafe.types.UTF8String

import io.github.pulsarspark.cluster.WriteSuite
import io.github.pulsarspark.pulsar.PulsarConnection
import io.github.pulsarspark.storage.KilledTasks.eventually
import io.github.pulsarspark.write.exactlyonce.{SinkCommit, SinkIdentity, SinkSettings, SinkTask, TaskAttempt}

class PulsarDataWriterSuite extends WriteSuite {

  private val value           = StructType(Seq(StructField("value", StringType)))
  private val byRow           = StructType(value.fields :+ StructField("__topic", StringType))
  private def text(s: String) = UTF8String.fromString(s)

  /** A task that writes these rows; what it does at its end.
    *
    * @param done
    *   the last epoch that is written, for an exactly-once write of epoch 3
    */
  private def write[A](name: Option[String], rows: Seq[InternalRow], once: Option[Option[Long]] = None)(
      end: PulsarDataWriter => A
  ): A = {
    val settings   = options(name.map("topic" -> _).toSeq: _*)
    val input      = if (name.isDefined) value else byRow
    val connection = PulsarConnection(settings.client)
    val plan       = name.map(n => Preflight.planFor(topic(n), input, None, settings, connection))
    val attempt    = once.map(done => new TaskAttempt(connection, sink(name, done), 3, 0, 7))
    val writer     = new PulsarDataWriter(WriteContext(input, settings, plan, isStream = false), connection, attempt)
    try {
      rows.foreach(writer.write)
      end(writer)
    } finally writer.close()
  }

  private def sink(name: Option[String], done: Option[Long]) = {
    val settings = SinkSettings(client(), name.map(topic), "public/default", "s", "n", startsAtZero = true,
      isForever = true, 1.minute)
    val names = settings.topics
    Seq(names.log, names.open, names.mark).foreach(full => store(full.stripPrefix(topic(""))))
    SinkTask(settings, SinkIdentity("s", "n", "o"), done)
  }

  private def rows(texts: String*) = texts.map(t => InternalRow(text(t)))

  private def stored(name: String): Int = cluster.topic(topic(name)).entries.map(e => math.max(1, e.messages)).sum

  test("commit: every row is acknowledged") {
    store("plain")
    write(Some("plain"), rows("a", "b", "c")) { writer =>
      assertEquals(Option(writer.commit()), None)
      assertEquals(writer.currentMetricsValues().map(_.value).toSeq, Seq(3L))
    }
    assertEquals(stored("plain"), 3)
  }

  test("commit of rows that the broker refuses: an error, and nothing counts as written") {
    store("closed")
    cluster.writes.refused = Set(topic("closed"))
    try
      write(Some("closed"), rows("a")) { writer =>
        assertEquals(condition(writer.commit()), "PULSAR_WRITE_FAILED")
        assertEquals(writer.currentMetricsValues().map(_.value).toSeq, Seq(0L))
      }
    finally cluster.writes.refused = Set.empty
  }

  test("rows that name their topics: each to its own; one that names none is an error") {
    Seq("one", "two").foreach(store)
    val named = Seq("one", "two", "one").map(t => InternalRow(text("x"), text(t)))
    write(None, named)(writer => assertEquals(Option(writer.commit()), None))
    assertEquals(Seq("one", "two").map(stored), Seq(2, 1))
    write(None, Nil)(writer =>
      assertEquals(condition(writer.write(InternalRow(text("x"), null))),
        "PULSAR_WRITE_TOPIC_NULL")
    )
  }

  test("rows of more topics than stay open: each topic has its rows, also one that was given back in between") {
    val names = (0 to Destinations.MaxOpen).map(n => s"many-$n")
    names.foreach(store)
    write(None, (names ++ names).map(name => InternalRow(text("x"), text(name)))) { writer =>
      assertEquals(Option(writer.commit()), None)
      assertEquals(writer.currentMetricsValues().map(_.value).toSeq, Seq(2L * names.size))
    }
    assertEquals(names.map(stored), names.map(_ => 2))
  }

  test("a row that the broker refuses in a topic that is given back: an error, as in one that is open") {
    val names = (0 to Destinations.MaxOpen).map(n => s"full-$n")
    names.foreach(store)
    cluster.writes.refused = Set(topic(names.head))
    try
      assertEquals(condition(write(None, names.map(name => InternalRow(text("x"), text(name))))(_.commit())),
        "PULSAR_WRITE_FAILED")
    finally cluster.writes.refused = Set.empty
  }

  test("an exactly-once task: the record of its transaction, then rows, then its marker, then its commit message") {
    store("once")
    val commit = SinkCommit.in(Seq(write(Some("once"), rows("a", "b"), Some(None))(_.commit()))).head
    assertEquals(commit.transaction.map(t => (t.partition, t.attempt, t.rows)), Some((0, 7L, 2L)))
    assertEquals(commit.skipped, 0L)
    assert(commit.topicPartitions.contains(topic("once")), commit)
    val order = requests().filter(r => r == "begin" || r.startsWith("send") || r == "register once" || r == "abort")
    assertEquals(order.map(_.replace("pulsar-spark-sink-s", "")),
      Seq("begin", "send -open", "register once", "send once in transaction", "send -mark in transaction"))
  }

  test("an exactly-once task whose topics were given back: its transaction has the bytes and topics of all rows") {
    val names = (0 to Destinations.MaxOpen).map(n => s"each-$n")
    names.foreach(store)
    val all = (names ++ names).map(name => InternalRow(text("xyz"), text(name)))
    SinkCommit.in(Seq(write(None, all, Some(None))(_.commit()))) match {
      case Seq(SinkCommit(Some(t), topics, 0)) =>
        assertEquals((t.rows, t.bytes, names.map(topic).diff(topics)),
          (all.size.toLong, 3L * all.size, IndexedSeq.empty[String]))
      case other => fail(other.toString)
    }
  }

  test("an exactly-once task that fails before its marker is acknowledged: it is aborted after that") {
    store("slow")
    val marker = "pulsar-spark-sink-s-mark"
    cluster.writes.slow = Set(topic(marker))
    cluster.writes.refused = Set(topic("slow"))
    try assertEquals(condition(write(Some("slow"), rows("a"), Some(None))(_.commit())), "PULSAR_WRITE_FAILED")
    finally {
      cluster.writes.slow = Set.empty
      cluster.writes.refused = Set.empty
    }
    val order = mutable.Buffer.empty[String]
    eventually(s"no abort: $order") {
      order ++= requests().filter(r => r == "abort" || r.startsWith("acknowledge"))
      order.contains("abort")
    }
    assertEquals(order.toSeq, Seq(s"acknowledge $marker", "abort"))
  }

  test("an exactly-once task that does not commit: its transaction is aborted, after its producers") {
    store("cut")
    write(Some("cut"), rows("a"), Some(None))(_.abort())
    val order = mutable.Buffer.empty[String]
    eventually(s"no abort: $order") {
      order ++= requests().filter(r => r == "close cut" || r == "abort")
      order.contains("abort")
    }
    assertEquals(order.toSeq, Seq("close cut", "abort"))
  }

  test("an exactly-once task whose transaction cannot be recorded for the driver: it sends no row") {
    store("unrecorded")
    cluster.writes.refused = Set(topic("pulsar-spark-sink-s-open"))
    try condition(write(Some("unrecorded"), rows("a"), Some(None))(_.commit()))
    finally cluster.writes.refused = Set.empty
    assertEquals(requests().filter(_.endsWith("in transaction")), Nil)
  }

  test("an exactly-once task of an epoch that is written: it sends nothing and counts its rows") {
    store("again")
    val commit = write(Some("again"), rows("a", "b"), Some(Some(3L)))(_.commit())
    assertEquals(SinkCommit.in(Seq(commit)), Seq(SinkCommit(None, Nil, skipped = 2)))
    assertEquals(requests().filter(r => r == "begin" || r.startsWith("send")), Nil)
  }
}
