package io.github.pulsarspark.read.task

import io.netty.buffer.Unpooled
import org.apache.pulsar.common.api.proto.CompressionType
import org.apache.spark.TaskAttempts
import org.apache.spark.sql.types.{IntegerType, StructField, StructType}
import org.apache.spark.util.LongAccumulator
import org.scalacheck.Gen
import org.scalacheck.rng.Seed

import io.github.pulsarspark.TestSeed
import io.github.pulsarspark.cluster.WriteSuite
import io.github.pulsarspark.errors.{Conditions, PulsarError}
import io.github.pulsarspark.format.{DecodeDepth, EntryDecoder, Received, Sent, SentGenerators, StoredEntry}
import io.github.pulsarspark.options.ReadOptions
import io.github.pulsarspark.options.registry.{CheckedOptions, Scope}
import io.github.pulsarspark.schema.SchemaVersions
import io.github.pulsarspark.storage.segment.HadoopSettings

/** Messages that do not decode: what becomes of them by [[DecodeErrorHandler]], and their copies by [[DeadLetters]]. */
class DecodeErrorHandlerSuite extends WriteSuite {

  private val origin = "persistent://public/default/origin"
  private val places = Set("pulsarspark.topic", "pulsarspark.position", "pulsarspark.version", "pulsarspark.error")

  private val error: Throwable with PulsarError = Conditions.ValueNotDecodable(topic = origin, position = "3:5:0",
    schemaType = "INT32", version = "7", reason = "it is too short").exception

  private final class Task(onError: String) {
    val counter = new LongAccumulator

    private val options = ReadOptions(CheckedOptions(
      Map("service.url" -> cluster.serviceUrl, "topic" -> "origin", "onDecodeError" -> onError) ++
        Option.when(onError == "dlq")("dlqTopic" -> "letters"),
      Scope.BatchRead,
      _ => Nil
    ))
    val handler = new DecodeErrorHandler(ReadContext(StructType(Seq(StructField("value", IntegerType))), options,
      HadoopSettings.none, decodeErrors = Some(counter)))

    /** Handles the messages of an entry; whether each stays as a row. */
    def keeps(entry: StoredEntry): Seq[Boolean] = {
      val decoder = new EntryDecoder(origin, DecodeDepth.Message)
      decoder.open(3, 5, entry.bytes, -1, Int.MaxValue)
      Iterator.continually(decoder.next()).takeWhile(identity).map(_ => handler.keepRow(decoder.message, error)).toList
    }
  }

  private val one = StoredEntry(Seq(Sent.text("x")), batched = true)

  private def copies(): Seq[Received] =
    cluster.topic(topic("letters")).entries.flatMap(e => Received.byClient(Unpooled.wrappedBuffer(e.bytes)))

  private def originals(entry: StoredEntry): Seq[Received] =
    Received.byDecoder(new EntryDecoder(origin, DecodeDepth.Message), entry.bytes)

  test("what the option says: an error, a row of null, or no row; the messages that pass are counted") {
    val results = Seq("fail", "null", "drop").map { option =>
      val task = new Task(option)
      val kept =
        try task.keeps(StoredEntry(Seq(Sent.text("x"), Sent.text("y")), batched = true)).mkString(",")
        catch { case e: RuntimeException with PulsarError => e.condition }
      task.handler.close()
      (kept, task.counter.value.longValue)
    }
    assertEquals(results, Seq(("PULSAR_VALUE_NOT_DECODABLE", 0L), ("true,true", 2L), ("false,false", 2L)))
    assertEquals(requests(), Nil, "no producer is opened")
  }

  test("copies have what the messages have, and properties that name their origin and the error") {
    val seed    = TestSeed.next()
    val entries = Gen.listOfN(40, SentGenerators.entry(3, CompressionType.NONE))
      .pureApply(Gen.Parameters.default, Seed(seed))
    store("letters")
    val task = new Task("dlq")
    entries.foreach(e => assertEquals(task.keeps(e).toSet - false, Set.empty[Boolean]))
    task.handler.flush()
    val (sent, found) = (entries.flatMap(originals), copies())
    assertEquals(found.size, sent.size, s"seed $seed")
    found.zip(sent).foreach { case (copy, original) =>
      def content(m: Received) = (m.value, m.key, m.keyIsBytes, m.orderingKey.filter(_.nonEmpty), m.eventTime,
        m.properties -- places)
      assertEquals(content(copy), content(original), s"seed $seed")
      assertEquals(places.toSeq.sorted.map(copy.properties),
        Seq(error.getMessage, "3:5:0", origin, SchemaVersions.text(original.schemaVersion.toArray)))
    }
    assertEquals(task.counter.value.longValue, sent.size.toLong)
    task.handler.close()
    assertEquals(requests().count(_.startsWith("producer letters")), 1, "one producer for all of a task")
  }

  test("a task must not succeed while a copy is refused") {
    store("letters")
    cluster.writes.refused = Set(topic("letters"))
    try {
      val task = new Task("dlq")
      task.keeps(one)
      assertEquals(condition(task.handler.flush()), "PULSAR_WRITE_FAILED")
      assertEquals(condition(task.handler.close()), "PULSAR_WRITE_FAILED", "a task that stops early, too")
      assert(requests().contains("close letters"))
    } finally cluster.writes.refused = Set.empty
  }

  test("a task that failed closes its producer without a wait for the copies") {
    store("letters")
    cluster.writes.refused = Set(topic("letters"))
    try
      TaskAttempts.failed {
        val task = new Task("dlq")
        task.keeps(one)
        task.handler.close()
        assert(requests().contains("close letters"))
      }
    finally cluster.writes.refused = Set.empty
  }
}
