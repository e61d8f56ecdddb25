package io.github.pulsarspark.write

import java.util.UUID

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.write._
import org.apache.spark.sql.connector.write.streaming.StreamingWrite
import org.apache.spark.sql.pulsar.QueryEvents
import org.apache.spark.sql.types.{StringType, StructField, StructType}
import org.apache.spark.unsafe.types.UTF8String

import io.github.pulsarspark.LocalSpark
import io.github.pulsarspark.cluster.{TopicEntry, WriteSuite}
import io.github.pulsarspark.options.registry.RawOptions
import io.github.pulsarspark.pulsar.connection.ClientSettings
import io.github.pulsarspark.storage.KilledTasks.eventually
import io.github.pulsarspark.write.exactlyonce.{SinkCommit, SinkRun}

/** Exactly-once writes as Spark drives them, from the builder to the commit, on a scripted cluster: what becomes of
  * rows, and when a sink is taken over and given back.
  */
class ExactlyOnceWritesSuite extends WriteSuite with LocalSpark {

  private val value = StructType(Seq(StructField("value", StringType)))

  private def tasks(count: Int) = new PhysicalWriteInfo { override def numPartitions(): Int = count }

  /** A write to the topic. Its table outlives it, and has the run. */
  private def write(
      name: String,
      run: SinkRun = new SinkRun,
      query: String = "query",
      checked: CheckedWrite = new CheckedWrite
  )(set: (String, String)*): Write =
    new PulsarWriteBuilder(
      new RawOptions(
        Map("service.url" -> cluster.serviceUrl, "topic" -> name, "deliveryGuarantee" -> "exactly-once") ++
          set,
        ClientSettings.fields
      ),
      value,
      None,
      checked,
      query,
      run
    ).build()

  /** Makes a topic, and those of a sink of its name. */
  private def sink(name: String): Unit =
    Seq(name, control(name, "log"), control(name, "open"), control(name, "mark")).foreach(store)

  private def control(sink: String, kind: String) = s"pulsar-spark-sink-$sink-$kind"

  private def numbered(name: String, version: Long): BatchWrite =
    write(name)("sinkId" -> name, "txnVersion" -> version.toString).toBatch

  private def stream(
      name: String,
      run: SinkRun,
      query: String = "query",
      checked: CheckedWrite = new CheckedWrite
  ): StreamingWrite = write(name, run, query, checked)("sinkId" -> name).toStreaming

  private def ended(writer: DataWriter[InternalRow], texts: Seq[String]): WriterCommitMessage =
    try {
      texts.foreach(t => writer.write(InternalRow(UTF8String.fromString(t))))
      writer.commit()
    } finally writer.close()

  /** Runs a task of each list of rows; Spark's ids of their attempts begin at 10. */
  private def run(write: BatchWrite, rows: Seq[String]*): Array[WriterCommitMessage] = {
    val factory = write.createBatchWriterFactory(tasks(rows.size))
    rows.zipWithIndex.map { case (texts, i) => ended(factory.createWriter(i, i + 10L), texts) }.toArray
  }

  private def run(write: StreamingWrite, epoch: Long, rows: Seq[String]*): Array[WriterCommitMessage] = {
    val factory = write.createStreamingWriterFactory(tasks(rows.size))
    rows.zipWithIndex.map { case (texts, i) => ended(factory.createWriter(i, i.toLong, epoch), texts) }.toArray
  }

  /** Numbers of rows of a topic whose transactions are committed, aborted and open. */
  private def rows(name: String): (Int, Int, Int) = {
    val ends = cluster.topic(topic(name)).entries.flatMap { entry =>
      entry.kind match {
        case TopicEntry.Messages(Some(id)) => Seq.fill(math.max(1, entry.messages))(cluster.writes.transactions(id))
        case other                         => fail(s"$other is in no transaction")
      }
    }
    (ends.count(_.contains(true)), ends.count(_.contains(false)), ends.count(_.isEmpty))
  }

  /** Counts how often the sink was taken over since the last call. */
  private def takeOvers(name: String): Int =
    requests().count(_ == s"producer ${control(name, "log")} ExclusiveWithFencing")

  private def state(name: String): SinkState =
    SinkState.all(client(), "public/default").find(_.id == name).getOrElse(fail(s"no sink $name"))

  private def context = SparkSession.active.sparkContext

  /** Begins a run of a query on this thread, as Spark does. */
  private def running[A](id: UUID)(body: => A): A = {
    context.setLocalProperty("spark.jobGroup.id", id.toString)
    try body
    finally context.setLocalProperty("spark.jobGroup.id", null)
  }

  // the first test, since the first stream of a session begins to listen to the ends of all
  test("the end of a run of a query: its driver ends, and what its tasks left open is aborted; no other run's does") {
    sink("ending")
    val (query, first, other) = (UUID.randomUUID, UUID.randomUUID, UUID.randomUUID)
    val epoch                 = running(first)(stream("ending", new SinkRun, query.toString))
    run(epoch, 0, Seq("a")): Unit
    QueryEvents.terminated(context, query, other)
    QueryEvents.terminated(context, UUID.randomUUID, first)
    assertEquals(rows("ending"), (0, 0, 1))
    QueryEvents.terminated(context, query, first)
    eventually(s"${rows("ending")}")(rows("ending") == ((0, 1, 0)))
    assertEquals(condition(epoch.commit(0, Array.empty[WriterCommitMessage])), "PULSAR_SINK_STATE")
  }

  test("a batch with a number: its rows count when the job commits, and a second run of the number has no effect") {
    sink("numbered")
    val first   = numbered("numbered", 7)
    val commits = run(first, Seq("a", "b"), Seq("c"), Nil)
    assert(first.useCommitCoordinator(), "one attempt of a task reports its transaction")
    assertEquals(rows("numbered"), (0, 0, 3))
    assertEquals(SinkCommit.in(commits.toSeq).map(_.transaction.map(t => (t.partition, t.attempt))),
      Seq(Some((0, 10L)), Some((1, 11L)), None))
    assertEquals(state("numbered").done, None)
    first.commit(commits)
    assertEquals(rows("numbered"), (3, 0, 0))
    val found = state("numbered")
    assertEquals((found.done, found.prepared, found.target), (Some(7L), None, topic("numbered")))
    val second = numbered("numbered", 7)
    second.commit(run(second, Seq("a", "b"), Seq("c"), Nil))
    assertEquals(rows("numbered"), (3, 0, 0), "nothing was sent")
    val next = numbered("numbered", 8)
    next.commit(run(next, Seq("d")))
    assertEquals((rows("numbered"), state("numbered").done), ((4, 0, 0), Some(8L)))
  }

  test("a batch that fails: its rows are aborted, and the same number may be written") {
    sink("failed")
    val failed  = numbered("failed", 3)
    val commits = run(failed, Seq("a"), Seq("b"))
    failed.abort(Array(commits.head, null))
    assertEquals((rows("failed"), state("failed").done), ((0, 2, 0), None))
    val again = numbered("failed", 3)
    again.commit(run(again, Seq("a"), Seq("b")))
    assertEquals((rows("failed"), state("failed").done), ((2, 2, 0), Some(3L)))
  }

  test("a batch whose commit fails: an error, then the abort, and whoever comes next finishes what was recorded") {
    sink("half")
    val half    = numbered("half", 1)
    val commits = run(half, Seq("a"))
    cluster.writes.refused = Set(topic(control("half", "log")))
    try {
      assertEquals(condition(half.commit(commits)), "PULSAR_SINK_TOPIC")
      half.abort(commits)
      assertEquals(rows("half"), (0, 0, 1), "the record may be stored")
    } finally cluster.writes.refused = Set.empty
    val again = numbered("half", 1)
    again.commit(run(again, Seq("a")))
    assertEquals(rows("half"), (1, 1, 0))
  }

  /** Subscriptions that keep the state of sinks. */
  private def kept: Set[String] =
    cluster.writes.subscriptions.keys.map(_._1).filter(_.contains("pulsar-spark-sink-")).toSet

  test("a batch without a number: its sink exists while it runs, whether it commits or fails") {
    store("job")
    cluster.writes.makes = _.contains("pulsar-spark-sink-")
    try
      for (ends <- Seq[(BatchWrite, Array[WriterCommitMessage]) => Unit](_.commit(_), _.abort(_))) {
        val before  = kept
        val job     = write("job")().toBatch
        val commits = run(job, Seq("a"))
        assertEquals((kept -- before).map(_.reverse.takeWhile(_ != '-').reverse), Set("log", "open", "mark"))
        ends(job, commits)
        assertEquals(kept, before)
      }
    finally cluster.writes.makes = _ => false
    assertEquals(rows("job"), (1, 1, 0))
  }

  test("more tasks than the record of an epoch names: refused before the sink is taken over") {
    sink("wide")
    assertEquals(condition(numbered("wide", 0).createBatchWriterFactory(tasks(50001))), "PULSAR_EXACTLY_ONCE_OPTION")
    assertEquals(takeOvers("wide"), 0)
    val epoch = stream("wide", new SinkRun)
    assertEquals(condition(epoch.createStreamingWriterFactory(tasks(50001))), "PULSAR_EXACTLY_ONCE_OPTION")
  }

  test("a stream: one driver for all its micro-batches, each committed once, and a failed one aborted") {
    sink("stream")
    val table                   = new SinkRun
    def epoch(): StreamingWrite = stream("stream", table)
    assertEquals(table.metrics, Map.empty[String, String])
    assert(epoch().useCommitCoordinator(), "one attempt of a task reports its transaction")
    val first = epoch()
    first.commit(0, run(first, 0, Seq("a"), Seq("b")))
    val second  = epoch()
    val commits = run(second, 1, Seq("c"))
    second.abort(1, commits)
    assertEquals(rows("stream"), (2, 1, 0))
    val again = epoch()
    again.commit(1, run(again, 1, Seq("c")))
    assertEquals((rows("stream"), state("stream").done), ((3, 1, 0), Some(1L)))
    assertEquals(takeOvers("stream"), 1)
    assertEquals(Seq("Rows", "Committed", "Aborted", "Skipped", "Open").map(n => table.metrics(s"pulsarSink$n")),
      Seq("3", "3", "1", "0", "0"))
  }

  test("a stream whose record is refused: its next micro-batch takes the sink over again, and repeats no row") {
    sink("broken")
    val table = new SinkRun
    val first = stream("broken", table)
    cluster.writes.refused = Set(topic(control("broken", "log")))
    try assertEquals(condition(first.commit(0, run(first, 0, Seq("a")))), "PULSAR_SINK_TOPIC")
    finally cluster.writes.refused = Set.empty
    assertEquals(condition(first.commit(0, Array.empty[WriterCommitMessage])), "PULSAR_SINK_STATE",
      "this driver goes no further")
    assertEquals(takeOvers("broken"), 1)
    val again = stream("broken", table)
    again.commit(0, run(again, 0, Seq("a")))
    assertEquals((rows("broken"), takeOvers("broken")), ((1, 1, 0), 1))
  }

  test("a stream whose micro-batch fails: its topic is checked again") {
    sink("checked")
    val (table, checked) = (new SinkRun, new CheckedWrite)
    def epoch()          = stream("checked", table, checked = checked)
    def checks(): Int    = requests().count(_.startsWith("producer checked "))
    epoch()
    assertEquals(checks(), 1)
    epoch().abort(0, Array.empty)
    assertEquals(checks(), 0)
    epoch()
    assertEquals(checks(), 1)
  }

  test("a stream whose settings change: another sink, and the driver of the one before ends") {
    Seq("before", "after").foreach(sink)
    val table  = new SinkRun
    val before = stream("before", table, "query 1")
    stream("after", table, "query 2").commit(0, Array.empty)
    assertEquals((state("before").done, state("after").done), (None, Some(0L)))
    assertEquals(condition(before.commit(0, Array.empty)), "PULSAR_SINK_STATE")
  }

  test("a query that starts again here: its earlier driver ends, and the late event of the earlier run does no harm") {
    sink("restarted")
    val (query, first, second) = (UUID.randomUUID, UUID.randomUUID, UUID.randomUUID)
    val before                 = running(first)(stream("restarted", new SinkRun, query.toString))
    val after                  = running(second)(stream("restarted", new SinkRun, query.toString))
    assertEquals(condition(before.commit(0, Array.empty[WriterCommitMessage])), "PULSAR_SINK_STATE")
    QueryEvents.terminated(context, query, first)
    after.commit(0, run(after, 0, Seq("a")))
    assertEquals(rows("restarted"), (1, 0, 0))
    QueryEvents.terminated(context, query, second)
  }
}
