package io.github.pulsarspark.read.plan

import scala.concurrent.duration._

import org.apache.spark.sql.types.{BinaryType, IntegerType, LongType, StringType, StructField, StructType}

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.errors.PulsarError
import io.github.pulsarspark.options.ReadOptions
import io.github.pulsarspark.options.registry.{CheckedOptions, Scope}
import io.github.pulsarspark.position.{Interval, OffsetRange, PartitionBounds, Position, PruningBounds, PulsarOffset}
import io.github.pulsarspark.read.stream.PulsarMicroBatchStream
import io.github.pulsarspark.read.task.ReadContext
import io.github.pulsarspark.schema.TopicSchema
import io.github.pulsarspark.schema.columns.FieldNames
import io.github.pulsarspark.storage.segment.HadoopSettings

class ReadPlanningSuite extends UnitSuite {

  private val t  = "persistent://public/default/t"
  private val p0 = s"$t-partition-0"
  private val p1 = s"$t-partition-1"

  private val topics = Map(t -> Seq(p0, p1))
  private val bounds =
    Map(p0 -> PartitionBounds(Position(1, -1), Position(3, 9)), p1 -> PartitionBounds(Position(2, -1), Position(2, -1)))

  private def options(extra: (String, String)*): ReadOptions =
    ReadOptions(CheckedOptions(
      Map("service.url" -> "pulsar://h:1", "topic" -> "t", "publishTimeSkewMs" -> "10") ++ extra,
      Scope.BatchRead,
      _ => Nil
    ))

  private def ranges(extra: (String, String)*): Seq[(OffsetRange, Interval)] =
    new BoundResolver(
      options(extra: _*),
      new FakeBroker(topics, bounds, Map(p0 -> (Position(1, _)), p1 -> (_ => Position(2, -1))))
    ).batchRanges(topics)

  test("a read without bounds covers all messages; an empty partition has no range") {
    assertEquals(ranges(), Seq(OffsetRange(p0, Position(1, -1), Position(3, 9)) -> Interval()))
  }

  test("a missing partition is empty; a position requested in it is an error") {
    def read(extra: (String, String)*) =
      new BoundResolver(options(extra: _*), new FakeBroker(topics, bounds - p1)).batchRanges(topics)
    assertEquals(read(), Seq(OffsetRange(p0, Position(1, -1), Position(3, 9)) -> Interval()))
    val named = "startingOffsets" -> s"""{"$p0": "earliest", "$p1": "7:0"}"""
    val e     = intercept[IllegalArgumentException with PulsarError](read(named))
    assertEquals(e.condition, "PULSAR_TOPIC_NOT_FOUND")
    assert(e.getMessage.contains(p1), e.getMessage)
  }

  test("a missing topic without partitions is an error") {
    val e = intercept[IllegalArgumentException with PulsarError](
      new BoundResolver(options(), new FakeBroker(Map(t -> Seq(t)), Map.empty)).batchRanges(Map(t -> Seq(t)))
    )
    assertEquals(e.condition, "PULSAR_TOPIC_NOT_FOUND")
  }

  test("a stream starts without partitions that do not exist yet") {
    val start = new BoundResolver(options(), new FakeBroker(topics, bounds - p1)).streamStart(topics)
    assertEquals(start.offset, PulsarOffset.of(Seq(p0 -> Position(3, 9))))
  }

  test("a partition that is not listed starts at earliest in a batch, at latest in a stream, and ends at latest") {
    val p2     = s"$t-partition-2"
    val all    = Map(t -> Seq(p0, p1, p2))
    val ends   = bounds + (p2 -> PartitionBounds(Position(5, -1), Position(5, 4)))
    val listed = Seq("startingOffsets" -> s"""{"$p0": "3:9"}""", "endingOffsets" -> s"""{"$p0": "3:9"}""")
    assertEquals(
      new BoundResolver(options(listed: _*), new FakeBroker(all, ends)).batchRanges(all).map(_._1),
      Seq(OffsetRange(p0, Position(3, 8), Position(3, 9)), OffsetRange(p2, Position(5, -1), Position(5, 4)))
    )
    def start(text: String) =
      new BoundResolver(options("startingOffsets" -> text), new FakeBroker(all, ends)).streamStart(all).offset
    val inStream = Seq(p1 -> Position(2, -1), p2 -> Position(5, 4))
    assertEquals(start(s"""{"$p0": "3:9"}"""), PulsarOffset.of((p0 -> Position(3, 8)) +: inStream))
    val progress = PulsarOffset.of(Seq(p0 -> Position(3, 9))).json
    assertEquals(start(progress),
      PulsarOffset.of(Seq(p0 -> Position(3, 9), p1 -> Position(2, -1), p2 -> Position(5, -1))))
  }

  test("times are looked up with the allowance and kept exact for the tasks") {
    val read = ranges("startingTime" -> "100", "endingTime" -> "200")
    assertEquals(read, Seq(OffsetRange(p0, Position(1, 90), Position(1, 210)) -> Interval(100, 200)))
    assert(Interval(100, 200).contains(100) && !Interval(100, 200).contains(200))
  }

  test("a batch that starts at latest or ends at earliest is refused") {
    assertEquals(
      intercept[IllegalArgumentException with PulsarError](ranges("startingOffsets" -> "latest")).condition,
      "PULSAR_START_LATEST"
    )
    assertEquals(
      intercept[IllegalArgumentException with PulsarError](ranges("endingOffsets" -> "earliest")).condition,
      "PULSAR_END_EARLIEST"
    )
  }

  private def streamStart(extra: (String, String)*) = new BoundResolver(
    options(extra: _*),
    new FakeBroker(topics, bounds, Map(p0 -> (Position(1, _)), p1 -> (_ => Position(2, -1)))),
    () => 1000L
  ).streamStart(topics)

  test("a stream starts after the last message") {
    assertEquals(streamStart().offset, PulsarOffset.of(Seq(p0 -> Position(3, 9), p1 -> Position(2, -1))))
  }

  test("a stream that starts at a time skips messages by their time only where the search is not exact") {
    val timed = streamStart("startingTime" -> "100")
    assertEquals(timed.offset.positions(p0), Position(1, 90))
    val first = timed.bounds(OffsetRange(p0, Position(1, 90), Position(3, 9)))
    assertEquals(first, PruningBounds(Interval(100), timesUntil = Some(Position(1, 110))))
    val kept = Seq((99L, 1L, 110L), (100L, 1L, 91L), (99L, 1L, 111L), (99L, 3L, 0L)).map((first.contains _).tupled)
    assertEquals(kept, Seq(false, true, true, true))
    val later = OffsetRange(p0, Position(1, 110), Position(3, 9))
    assertEquals(timed.bounds(later), PruningBounds.Everything)
    val joined = OffsetRange("a partition that comes later", Position(1, -1), Position(1, 9))
    assertEquals(timed.bounds(joined), PruningBounds.Everything)
  }

  test("a stream that starts at a time to come skips all messages before") {
    val timed  = streamStart("startingTime" -> "2000")
    val joined = OffsetRange("a partition that comes later", Position(1, -1), Position(1, 9))
    assertEquals(timed.times(joined), Interval(2000))
    assertEquals(timed.times(joined.copy(topic = p0)), Interval(2000))
  }

  test("a stream refuses to report its end without a start") {
    val stream = new PulsarMicroBatchStream(ReadContext(new StructType(), options(), HadoopSettings.none),
      new StructType(), "nowhere")
    assertEquals(intercept[RuntimeException with PulsarError](stream.latestOffset()).condition, "PULSAR_INTERNAL")
  }

  test("topics with different columns are refused with the first difference") {
    val a = TopicSchema("INT64")
    assertEquals(SourceColumns.values(Seq("a" -> a, "b" -> a)), new StructType().add("value", LongType))
    val e = intercept[IllegalArgumentException with PulsarError](
      SourceColumns.values(Seq("a" -> a, "b" -> TopicSchema.Bytes))
    )
    assertEquals(e.condition, "PULSAR_SCHEMAS_DIFFER")
    assert(e.getMessage.contains("column `value` is BIGINT in a and BINARY in b"), e.getMessage)
  }

  test("records of several topics merge into one table; the error names the first topics that differ") {
    def record(fields: String*) =
      TopicSchema(
        "AVRO",
        fields.map(f => s"""{"name":"${f.head}","type":"${f.tail}"}""").mkString(
          """{"type":"record","name":"R","fields":[""",
          ",",
          "]}"
        )
      )
    val topics = Seq("a" -> record("xint"), "b" -> record("ylong", "xint"))
    assertEquals(SourceColumns.values(topics), new StructType().add("x", IntegerType).add("y", LongType))
    def fails(more: (String, TopicSchema), text: String) = {
      val e = intercept[IllegalArgumentException with PulsarError](SourceColumns.values(topics :+ more))
      assert(e.getMessage.contains(text), e.getMessage)
    }
    fails("c" -> record("yint"), "Topics b and c cannot be read as one table: column `y` is BIGINT in b and INT in c")
    fails("c" -> TopicSchema("INT64"),
      "Topics a and c cannot be read as one table: column `value` is a record in a and BIGINT in c")
  }

  test("metadata columns are added on request") {
    val values = new StructType().add("value", BinaryType)
    assertEquals(SourceColumns.shown(values, None, errorColumns = false, isCaseSensitive = false).fieldNames.length, 9)
    assertEquals(SourceColumns.shown(values, Some("all"), errorColumns = false, isCaseSensitive = false),
      SourceColumns.all(values, errorColumns = false, isCaseSensitive = false))
    assertEquals(
      SourceColumns.shown(values, Some("__producerName, __position"), errorColumns = false,
        isCaseSensitive = false).fieldNames.takeRight(
        2
      ).toSeq,
      Seq("__position", "__producerName")
    )
    val e = intercept[IllegalArgumentException with PulsarError](
      SourceColumns.shown(values, Some("__positon"), errorColumns = false, isCaseSensitive = false)
    )
    assertEquals(e.condition, "PULSAR_METADATA_COLUMN_UNKNOWN")
    assert(e.getMessage.contains("the nearest name is `__position`"), e.getMessage)
  }

  test("a field wins over a metadata column of its name, and an open choice is refused") {
    val values = FieldNames.marked(StructField("__partition", StringType))
    val shown = SourceColumns.shown(StructType(Seq(values)), Some("all"), errorColumns = false, isCaseSensitive = false)
    assertEquals(shown.fields.filter(_.name == "__partition").toSeq, Seq(values))
    SourceColumns.checkFields(shown, StructType(Seq(values)))
    val open = intercept[IllegalArgumentException] {
      SourceColumns.checkFields(new StructType().add("__partition", StringType), StructType(Seq(values)))
    }
    assert(
      open.getMessage.contains("Column `__partition` of the DataFrame does not match the topic: it is a metadata")
    )
  }

  test("a field hides a metadata column of its name in another case, unless case counts") {
    val field                           = FieldNames.marked(StructField("__KEY", StringType))
    def names(isCaseSensitive: Boolean) =
      SourceColumns.shown(StructType(Seq(field)), None, errorColumns = false, isCaseSensitive).fieldNames.toSeq
    assertEquals(names(isCaseSensitive = false).take(2), Seq("__KEY", "__topic"))
    assertEquals(names(isCaseSensitive = true).take(2), Seq("__KEY", "__key"))
    val same = StructType(Seq(field, FieldNames.marked(StructField("__key", StringType))))
    assertEquals(SourceColumns.all(same, errorColumns = false, isCaseSensitive = true).count(_.name == "__key"), 1)
  }

  test("error columns are added on request, and refused when the topic has a field of that name") {
    val values = new StructType().add("a", LongType)
    assertEquals(
      SourceColumns.shown(values, None, errorColumns = true, isCaseSensitive = false).fieldNames.takeRight(2).toSeq,
      Seq("_error", "_corrupt")
    )
    val own = values.add("_error", LongType)
    assert(SourceColumns.shown(own, None, errorColumns = false, isCaseSensitive = false).fieldNames.contains("_error"))
    assert(
      intercept[IllegalArgumentException](
        SourceColumns.all(own, errorColumns = true, isCaseSensitive = false)
      ).getMessage.contains("`_error`")
    )
  }

  test("options with times, each wait takes its own") {
    assertEquals(options("pollTimeoutMs" -> "7", "operationTimeoutMs" -> "8").pollTimeout, 7.millis)
    assertEquals(options("operationTimeoutMs" -> "8").client.operationTimeout, 8.millis)
  }
}
