package io.github.pulsarspark.read

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.expressions.Expressions
import org.apache.spark.sql.connector.expressions.filter.Predicate
import org.apache.spark.sql.connector.read.{Batch, InputPartition, PartitionReader}
import org.apache.spark.sql.types._

import io.github.pulsarspark.LocalSpark
import io.github.pulsarspark.cluster.ReadSuite
import io.github.pulsarspark.errors.PulsarError
import io.github.pulsarspark.options.registry.RawOptions
import io.github.pulsarspark.position.Interval
import io.github.pulsarspark.pulsar.connection.ClientSettings
import io.github.pulsarspark.read.task.PulsarInputPartition
import io.github.pulsarspark.schema.columns.FieldNames

/** Batch reads as Spark drives them, from what it pushes down to the rows of tasks, on a scripted cluster. */
class PulsarScanSuite extends ReadSuite with LocalSpark {

  private val columns = StructType(Seq(StructField("value", BinaryType), StructField("__partition", IntegerType),
    StructField("__publishTime", TimestampType)))

  private def builder(name: String, set: (String, String)*) = new PulsarScanBuilder(
    new RawOptions(
      Map("service.url" -> cluster.serviceUrl, "admin.url" -> cluster.adminUrl, "topic" -> name,
        "pollTimeoutMs" -> "20000") ++ set,
      ClientSettings.fields
    ),
    columns
  )

  private def scan(name: String, set: (String, String)*): PulsarScan = builder(name, set: _*).build()

  private def open(batch: Batch, task: InputPartition): PartitionReader[InternalRow] =
    batch.createReaderFactory().createReader(task)

  /** The values that each task reads. */
  private def values(batch: Batch): Seq[Seq[String]] = batch.planInputPartitions().toSeq.map { task =>
    val reader = open(batch, task)
    try Iterator.continually(reader).takeWhile(_.next()).map(r => new String(r.get().getBinary(0))).toList
    finally reader.close()
  }

  private def size(scan: PulsarScan): Option[Long] = {
    val found = scan.estimateStatistics().sizeInBytes
    Option.when(found.isPresent)(found.getAsLong)
  }

  private def condition(body: => Any): String = intercept[RuntimeException with PulsarError](body).condition

  test("a batch reads what there is when it is planned, which it is once, however often Spark asks") {
    stored("once", 100L -> 2)
    val batch = scan("once").toBatch
    assertEquals(values(batch).flatten.sorted, Seq("100:0", "100:1"))
    cluster.takeAdminRequests(): Unit
    stored("once", 100L -> 5)
    assertEquals(values(batch).flatten.sorted, Seq("100:0", "100:1"))
    assertEquals(cluster.takeAdminRequests(), Nil)
  }

  test("a limit: no task reads more rows, and Spark is told that it has to limit all of them together") {
    stored("limited-partition-0", 110L -> 3)
    stored("limited-partition-1", 111L -> 3)
    val pushing = builder("limited")
    assert(pushing.pushLimit(2))
    assert(pushing.isPartiallyPushed)
    assertEquals(values(pushing.build().toBatch).map(_.size), Seq(2), "small partitions share a task")
  }

  private def partitionIs(index: Int) =
    new Predicate("=", Array(Expressions.column("__partition"), Expressions.literal(index)))

  private def driver(scan: PulsarScan) = scan.reportDriverMetrics().map(m => m.name -> m.value).toMap

  test("a filter: Spark applies it to the rows as well; partitions that cannot pass are not read, and counted") {
    stored("filtered-partition-0", 120L -> 2)
    stored("filtered-partition-1", 121L -> 2)
    val pushing = builder("filtered")
    val all     = Array(partitionIs(1), new Predicate("=", Array(Expressions.column("value"), Expressions.literal(1))))
    assertEquals(pushing.pushPredicates(all).toSeq, all.toSeq)
    assertEquals(pushing.pushedPredicates().toSeq, Seq(all.head))
    val filtered = pushing.build()
    assertEquals(driver(filtered), Map.empty[String, Long], "nothing is planned")
    assertEquals(values(filtered.toBatch), Seq(Seq("121:0", "121:1")))
    assertEquals(driver(filtered), Map("pulsarLedgersSkipped" -> 0L, "pulsarPartitionsSkipped" -> 1L))
  }

  test("a batch between two times: messages that are outside of them, as of a slow clock, are no rows of a task") {
    stored("timed", 155L -> 2)
    val times = Seq("startingTime" -> "1970-01-01T00:00:00.001Z", "endingTime" -> "1970-01-01T00:00:00.002Z")
    val tasks = scan("timed", times: _*).toBatch.planInputPartitions().toSeq
    assertEquals(tasks.collect { case p: PulsarInputPartition => p.planned.map(_.bounds.times) }.flatten,
      Seq(Interval(1L, 2L)))
  }

  test("a batch whose plan finds a loss: an error, unless the read goes on without it") {
    stored("trimmed", 160L -> 2, 161L -> 1)
    val from = "startingOffsets" -> s"""{"${full("trimmed")}": "155:0"}"""
    val set  = Seq(from, "readLevel" -> "segment")
    assertEquals(condition(scan("trimmed", set: _*).toBatch.planInputPartitions()), "PULSAR_DATA_LOSS.TRIMMED")
    assertEquals(scan("trimmed", set :+ ("failOnDataLoss" -> "false"): _*).toBatch.planInputPartitions().length, 1)
  }

  test("a filter on a field with the name of a metadata column says nothing about partitions") {
    stored("field-partition-0", 125L -> 1)
    val field   = StructType(columns.fields.updated(1, FieldNames.marked(StructField("__partition", IntegerType))))
    val pushing = new PulsarScanBuilder(new RawOptions(Map.empty, ClientSettings.fields), field)
    pushing.pushPredicates(Array(partitionIs(7)))
    assertEquals(pushing.pushedPredicates().toSeq, Nil)
  }

  test("columns: those of the query; if messages that do not decode are passed over, also all that may not decode") {
    def output(set: (String, String)*) = {
      val pruning = builder("none", set: _*)
      pruning.pruneColumns(StructType(Seq(columns(1), StructField("__entryId", LongType))))
      pruning.build().readSchema().fieldNames.toSeq
    }
    assertEquals(output(), Seq("__partition", "__entryId"))
    assertEquals(output("onDecodeError" -> "drop"), Seq("value", "__partition", "__publishTime", "__entryId"))
  }

  test("the size of a read: that of its stored bytes; not known where a broker reads, for a stream, and on failure") {
    stored("sized", 130L -> 3, 131L -> 2)
    val bytes = cluster.topic(full("sized")).entries.map(_.bytes.length.toLong)
    assert(
      size(scan("sized", "readLevel" -> "segment")).exists(found => found > bytes.sum / 2 && found < bytes.sum * 2)
    )
    cluster.takeAdminRequests(): Unit
    val atBroker = scan("sized", "readLevel" -> "broker")
    assertEquals(size(atBroker), None)
    assertEquals((driver(atBroker), cluster.takeAdminRequests()), (Map.empty[String, Long], Nil), "it is not planned")
    val stream = scan("sized", "readLevel" -> "segment")
    stream.toMicroBatchStream(java.nio.file.Files.createTempDirectory("checkpoint").toString).stop()
    assertEquals(size(stream), None)
    assertEquals(cluster.takeAdminRequests(), Nil)
  }

  test("a read that cannot be planned: its size is not known, and the read itself says why") {
    val missing = scan("missing")
    assertEquals(size(missing), None)
    assertEquals(condition(missing.toBatch.planInputPartitions()), "PULSAR_TOPIC_NOT_FOUND")
    assertEquals(condition(scan("missing", "startingOffsets" -> "latest").toBatch.planInputPartitions()),
      "PULSAR_TOPIC_NOT_FOUND")
    assertEquals(condition(scan("missing", "readLevel" -> "near").toBatch), "PULSAR_OPTION_INVALID")
  }

  test("a topic whose columns are not those that Spark knows: an error before a task runs") {
    stored("changed", 140L -> 1)
    val other = StructType(Seq(StructField("value", StringType)))
    val read  = new PulsarScanBuilder(
      new RawOptions(Map("service.url" -> cluster.serviceUrl, "topic" -> "changed"), ClientSettings.fields),
      other
    ).build()
    assertEquals(condition(read.toBatch.planInputPartitions()), "PULSAR_USER_SCHEMA_MISMATCH")
  }

  test("the text of a read: how it is read, from where to where, its columns, filters and limit") {
    stored("shown", 150L -> 2)
    val pushing = builder("shown", "readLevel" -> "Segment", "startingOffsets" -> "earliest")
    pushing.pushPredicates(Array(partitionIs(-1)))
    pushing.pushLimit(9)
    val read = pushing.build()
    val rest = "topic=shown startingOffsets=earliest columns=[value, __partition, __publishTime] " +
      "filters=[__partition = -1] limit=9"
    assertEquals(read.description(), s"PulsarScan readLevel=segment $rest")
    read.toBatch.planInputPartitions(): Unit
    assertEquals(read.description(), s"PulsarScan readLevel=segment (0 tasks, slices: none) $rest")
  }
}
