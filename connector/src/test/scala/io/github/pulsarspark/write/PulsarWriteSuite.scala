package io.github.pulsarspark.write

import scala.util.Using

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.write.{DataWriter, PhysicalWriteInfo}
import org.apache.spark.sql.types.{LongType, StringType, StructField, StructType}
import org.apache.spark.unsafe.types.UTF8String

import io.github.pulsarspark.LocalSpark
import io.github.pulsarspark.cluster.WriteSuite
import io.github.pulsarspark.options.registry.RawOptions
import io.github.pulsarspark.pulsar.PulsarConnection
import io.github.pulsarspark.pulsar.connection.ClientSettings
import io.github.pulsarspark.write.exactlyonce.SinkRun

/** Writes as Spark builds them, by [[PulsarWriteBuilder]]: what is checked before any task, and how often. */
class PulsarWriteSuite extends WriteSuite with LocalSpark {

  private val value = StructType(Seq(StructField("value", StringType)))
  private val ids   = StructType(value.fields :+ StructField("__sequenceId", LongType))

  private def tasks(count: Int) = new PhysicalWriteInfo { override def numPartitions(): Int = count }

  private def builder(set: (String, String)*)(rows: StructType = value, checked: CheckedWrite = new CheckedWrite) =
    new PulsarWriteBuilder(
      new RawOptions(Map("service.url" -> cluster.serviceUrl) ++ set, ClientSettings.fields),
      rows,
      None,
      checked,
      "query",
      new SinkRun
    )

  /** Producers of a topic that were opened since the last call. */
  private def opened(name: String): Int = requests().count(_.startsWith(s"producer $name "))

  /** Writes a row by a task. */
  private def ended(writer: DataWriter[InternalRow]): Unit =
    try {
      writer.write(InternalRow(UTF8String.fromString("a")))
      writer.commit(): Unit
    } finally writer.close()

  /** Writes a micro-batch of one task. */
  private def stream(name: String, checked: CheckedWrite): Unit = {
    val write = builder("topic" -> name)(checked = checked).build().toStreaming
    ended(write.createStreamingWriterFactory(tasks(1)).createWriter(0, 0, 0))
  }

  test("a batch: its topic is checked before any task, and a task stores its rows") {
    store("batch")
    val write = builder("topic" -> "batch")().build().toBatch
    assertEquals(opened("batch"), 1)
    val writer = write.createBatchWriterFactory(tasks(1)).createWriter(0, 0)
    try {
      writer.write(InternalRow(UTF8String.fromString("a")))
      assertEquals(Option(writer.commit()), None)
    } finally writer.close()
    assertEquals(cluster.topic(topic("batch")).entries.size, 1)
    assert(!write.useCommitCoordinator(), "attempts of a task do not exclude each other")
  }

  test("a stream: its topic is checked once for the micro-batches of a minute, and again after one that failed") {
    store("stream")
    val checked = new CheckedWrite
    def next()  = builder("topic" -> "stream")(checked = checked).build().toStreaming
    next().commit(0, Array.empty)
    assertEquals(opened("stream"), 1)
    val second = next()
    assertEquals(opened("stream"), 0)
    second.abort(1, Array.empty)
    next()
    assertEquals(opened("stream"), 1)
  }

  test("a stream: a task's producer is left to the next micro-batch, that of a batch is not") {
    store("left")
    val checked      = new CheckedWrite
    def epoch(): Int = {
      stream("left", checked)
      opened("left")
    }
    assertEquals(Seq(epoch(), epoch()), Seq(2, 0), "one to check, and one for the rows")
    def batch(): Int = {
      ended(builder("topic" -> "left")().build().toBatch.createBatchWriterFactory(tasks(1)).createWriter(0, 0))
      opened("left")
    }
    assertEquals(Seq(batch(), batch()), Seq(2, 2))
  }

  test("producers that tasks left to others are closed for one topic, as before its schema changes") {
    Seq("here", "there").foreach { name =>
      store(name)
      stream(name, new CheckedWrite)
    }
    requests()
    Using.resource(PulsarConnection(client()))(_.closeKeptProducers(topic("here")))
    assertEquals(requests(), Seq("close here"))
  }

  test("a write without a topic, and one in place of what is there, are refused without a request") {
    assertEquals(condition(builder()().build().toBatch), "PULSAR_WRITE_NO_TOPIC")
    assertEquals(condition(builder("topic" -> "t")().truncate()), "PULSAR_WRITE_MODE")
    assertEquals(requests(), Nil)
  }

  private val named  = Seq("topic" -> "named", "pulsar.producer.producerName" -> "p")
  private val begins = "pulsar.producer.initialSequenceId" -> "7"

  test("rows with ids under the name of a producer: one task, and no first id that each micro-batch begins at") {
    store("named")
    val batch = builder(named :+ begins: _*)(ids).build()
    batch.toBatch.createBatchWriterFactory(tasks(1))
    assertEquals(condition(batch.toBatch.createBatchWriterFactory(tasks(2))), "PULSAR_WRITE_SEQUENCE_IDS")
    assertEquals(condition(batch.toStreaming), "PULSAR_WRITE_SEQUENCE_IDS")
    val stream = builder(named: _*)(ids).build().toStreaming
    stream.createStreamingWriterFactory(tasks(1))
    assertEquals(condition(stream.createStreamingWriterFactory(tasks(2))), "PULSAR_WRITE_SEQUENCE_IDS")
  }

  test("the text of a write names its topic, or that rows do") {
    assertEquals(builder("topic" -> "t")().build().description(), "PulsarWrite topic=t")
    assertEquals(builder()().build().description(), "PulsarWrite topic=by column __topic")
  }
}
