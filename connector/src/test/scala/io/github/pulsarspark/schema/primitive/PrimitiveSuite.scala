package io.github.pulsarspark.schema.primitive

import java.nio.ByteBuffer
import java.sql.{Time, Timestamp}
import java.time.{Instant, LocalDate, LocalDateTime, LocalTime, ZoneOffset}
import java.util.Date

import org.apache.pulsar.client.api.Schema
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String
import org.scalacheck.{Arbitrary, Gen}
import org.scalacheck.Prop.forAll

import io.github.pulsarspark.PropertySuite
import io.github.pulsarspark.schema.TopicSchema
import io.github.pulsarspark.schema.rows.{Messages, Plain, RowEncoder, SchemaTranslation, WritePlanner}

/** Values as [[PrimitiveEncoder]] writes them and [[PrimitiveDecoder]] reads them, with times by
  * [[io.github.pulsarspark.schema.convert.SparkTime]]: Pulsar's own schema classes are the oracle, in both directions.
  */
class PrimitiveSuite extends PropertySuite {

  private def both[T](name: String, dataType: DataType, schema: Schema[T], values: Gen[T], schemaType: String = "auto")(
      toSpark: T => Any
  ): Unit =
    property(s"$name as the client has it") {
      val topicSchema = TopicSchema(name)
      val columns     = SchemaTranslation.toStruct(Messages.topic, topicSchema)
      val plan        = WritePlanner(columns, Some(Messages.topic), None, schemaType)
      val encoder     = new RowEncoder(plan)
      val decoder     = Messages.decoder(topicSchema, columns)
      assertEquals(columns, StructType(Seq(StructField("value", dataType))))
      assertEquals(plan.schema, topicSchema)
      forAll(values) { v =>
        val bytes = schema.encode(v)
        assertEquals(encoder.encode(InternalRow(toSpark(v))).value.toSeq, bytes.toSeq)
        assertEquals[Any, Any](Plain.ofRow(decoder.decode(Messages.of(bytes)), columns)("value"),
          Plain.ofSpark(toSpark(v), dataType))
      }
    }

  private def boxed[A, B](gen: Gen[A], edges: A*)(box: A => B): Gen[B] =
    if (edges.isEmpty) gen.map(box) else Gen.oneOf(gen, Gen.oneOf(edges)).map(box)

  both("BOOLEAN", BooleanType, Schema.BOOL, boxed(Arbitrary.arbBool.arbitrary)(Boolean.box))(identity)
  both("INT8", ByteType, Schema.INT8, boxed(Arbitrary.arbByte.arbitrary, Byte.MinValue, Byte.MaxValue)(Byte.box))(
    identity
  )
  both("INT16", ShortType, Schema.INT16,
    boxed(Arbitrary.arbShort.arbitrary, Short.MinValue, Short.MaxValue)(Short.box))(identity)
  both("INT32", IntegerType, Schema.INT32, boxed(Arbitrary.arbInt.arbitrary, Int.MinValue, Int.MaxValue)(Int.box))(
    identity
  )
  both("INT64", LongType, Schema.INT64, boxed(Arbitrary.arbLong.arbitrary, Long.MinValue, Long.MaxValue)(Long.box))(
    identity
  )
  both("FLOAT", FloatType, Schema.FLOAT,
    boxed(Arbitrary.arbFloat.arbitrary, Float.NaN, Float.NegativeInfinity, -0.0f)(Float.box))(identity)
  both(
    "DOUBLE",
    DoubleType,
    Schema.DOUBLE,
    boxed(Arbitrary.arbDouble.arbitrary, Double.NaN, Double.PositiveInfinity, -0.0)(Double.box)
  )(identity)
  both("STRING", StringType, Schema.STRING, Gen.oneOf(Gen.alphaNumStr, Gen.oneOf("", "ä漢😀\u0000")))(
    UTF8String.fromString
  )
  both("BYTES", BinaryType, Schema.BYTES, Gen.listOf(Arbitrary.arbByte.arbitrary).map(_.toArray))(identity)

  private val micros = Gen.oneOf(
    Gen.choose(-377705116800000000L, 253402300799999999L), // years -9999 to 9999
    Arbitrary.arbLong.arbitrary,
    Gen.oneOf(0L, -1L, 1L, Long.MinValue, Long.MaxValue, 253402300799999999L, -62135596800000000L)
  )
  private val millis = micros.map(_ / 1000)

  private def instant(micros: Long) =
    Instant.ofEpochSecond(Math.floorDiv(micros, 1000000L), Math.floorMod(micros, 1000000L) * 1000)

  both("DATE", TimestampType, Schema.DATE, millis.map(new Date(_)), "date")(_.getTime * 1000)
  both("TIMESTAMP", TimestampType, Schema.TIMESTAMP, millis.map(new Timestamp(_)), "timestamp")(_.getTime * 1000)
  both("TIME", LongType, Schema.TIME, boxed(Arbitrary.arbLong.arbitrary, 0L, -1L, 86399999L)(new Time(_)), "time")(
    _.getTime
  )
  both("INSTANT", TimestampType, Schema.INSTANT, micros.map(instant))(i => micros(i.getEpochSecond, i.getNano))
  both("LOCAL_DATE", DateType, Schema.LOCAL_DATE,
    boxed(Arbitrary.arbInt.arbitrary, 2932896, -719162)(d => LocalDate.ofEpochDay(d.toLong)))(
    _.toEpochDay.toInt
  )
  both(
    "LOCAL_TIME",
    LongType,
    Schema.LOCAL_TIME,
    boxed(Gen.choose(0L, 86399999999999L), 0L, 86399999999999L)(LocalTime.ofNanoOfDay),
    "local_time"
  )(
    _.toNanoOfDay
  )
  both("LOCAL_DATE_TIME", TimestampNTZType, Schema.LOCAL_DATE_TIME,
    micros.map(m => LocalDateTime.ofInstant(instant(m), ZoneOffset.UTC)))(l =>
    micros(l.toEpochSecond(ZoneOffset.UTC), l.getNano)
  )

  private def micros(seconds: Long, nanos: Int): Long = (BigInt(seconds) * 1000000 + nanos / 1000).toLong

  private def read[T](schema: Schema[T], value: T): Any =
    Plain.ofRow(
      Messages.decode(TopicSchema(schema.getSchemaInfo.getType.name), schema.encode(value)),
      SchemaTranslation.toStruct(Messages.topic, TopicSchema(schema.getSchemaInfo.getType.name))
    )("value")

  test("parts of a microsecond are cut towards the past") {
    assertEquals[Any, Any](read(Schema.INSTANT, Instant.ofEpochSecond(1, 1999)), 1000001L)
    assertEquals[Any, Any](read(Schema.INSTANT, Instant.ofEpochSecond(-1, 999999999)), -1L)
    assertEquals[Any, Any](read(Schema.LOCAL_DATE_TIME, LocalDateTime.of(1969, 12, 31, 23, 59, 59, 999999999)), -1L)
    assertEquals[Any, Any](read(Schema.LOCAL_TIME, LocalTime.MAX), 86399999999999L)
  }

  test("a time that Spark cannot hold is an error") {
    def fails[T](schema: Schema[T], value: T, reason: String) = {
      val error = intercept[RuntimeException](read(schema, value))
      assert(error.getMessage.contains(s"[PULSAR_VALUE_NOT_DECODABLE]") && error.getMessage.contains(reason),
        error.getMessage)
    }
    fails(Schema.INSTANT, Instant.MAX, "31556889864403199 s since 1970 are more than a timestamp can hold")
    fails(Schema.INSTANT, Instant.MIN, "s since 1970 are more than a timestamp can hold")
    fails(Schema.LOCAL_DATE_TIME, LocalDateTime.MAX, "days since 1970 are more than a timestamp can hold")
    fails(Schema.TIMESTAMP, new Timestamp(Long.MaxValue),
      s"${Long.MaxValue} ms since 1970 are more than a timestamp can hold")
    fails(Schema.DATE, new Date(Long.MinValue), "ms since 1970 are more than a timestamp can hold")
    val error =
      intercept[RuntimeException](Messages.decode(TopicSchema("LOCAL_DATE"), Schema.INT64.encode(Int.MaxValue + 1L)))
    assert(error.getMessage.contains("2147483648 days since 1970 are more than a date can hold"), error.getMessage)
  }

  test("a value that its schema cannot keep is refused") {
    def fails(schemaType: String, dataType: DataType, value: Long, reason: String) = {
      val plan  = WritePlanner(new StructType().add("value", dataType), Some(Messages.topic), None, schemaType)
      val error = intercept[RuntimeException](new RowEncoder(plan).encode(InternalRow(value)))
      assert(error.getMessage.contains(s"[PULSAR_WRITE_VALUE_NOT_ALLOWED] Field `value`"), error.getMessage)
      assert(error.getMessage.contains(reason), error.getMessage)
    }
    fails("local_time", LongType, 86400000000000L, "LOCAL_TIME is a number of nanoseconds below 86400000000000")
    fails("local_time", LongType, -1L, "LOCAL_TIME is a number")
  }

  test("a day is written to a DATE schema as its midnight in UTC") {
    val plan              = WritePlanner(new StructType().add("value", DateType), Some(Messages.topic), None, "date")
    def written(day: Int) = new Date(ByteBuffer.wrap(new RowEncoder(plan).encode(InternalRow(day)).value).getLong)
    for (day <- Seq("1969-12-31", "1970-01-01", "2026-02-28", "0001-01-01", "9999-12-31"))
      assertEquals(written(LocalDate.parse(day).toEpochDay.toInt).toInstant.toString, s"${day}T00:00:00Z")
    assertEquals(new RowEncoder(plan).encode(InternalRow(null)).value, null)
  }

  test("parts of a millisecond are refused where the schema has none, or cut towards the past") {
    for (schemaType <- Seq("DATE", "TIMESTAMP")) {
      def written(micros: Long, cutsTimes: Boolean) = {
        val columns = new StructType().add("value", TimestampType)
        val plan    = WritePlanner(columns, Some(Messages.topic), None, schemaType, cutsTimes = cutsTimes)
        ByteBuffer.wrap(new RowEncoder(plan).encode(InternalRow(micros)).value).getLong
      }
      assertEquals(Seq(1001L, 1000L, 999L, 0L, -1L, -1000L, -1001L).map(written(_, cutsTimes = true)),
        Seq(1L, 1L, 0L, 0L, -1L, -1L, -2L))
      assertEquals(Seq(1000L, 0L, -1000L).map(written(_, cutsTimes = false)), Seq(1L, 0L, -1L))
      for (micros <- Seq(-1L, 1001L, Long.MaxValue, Long.MinValue)) {
        val error = intercept[RuntimeException](written(micros, cutsTimes = false))
        assert(error.getMessage.startsWith("[PULSAR_WRITE_PRECISION_LOSS] Field `value`"), error.getMessage)
        assert(error.getMessage.contains(s"but its schema, $schemaType, stores"), error.getMessage)
      }
    }
  }

  test("a topic without schema is read as bytes, whatever version a message names") {
    for (schemaType <- Seq("NONE", "BYTES")) {
      val schema  = TopicSchema(schemaType)
      val columns = SchemaTranslation.toStruct(Messages.topic, schema)
      val row     =
        Messages.decoder(schema, columns, _ => TopicSchema("AVRO", "...")).decode(
          Messages.of(Array[Byte](1, 2), Messages.version(1))
        )
      assertEquals(row.getBinary(0).toSeq, Seq[Byte](1, 2))
    }
  }

  test("a tombstone is null, an empty value is not") {
    val columns = SchemaTranslation.toStruct(Messages.topic, TopicSchema.Bytes)
    val decoder = Messages.decoder(TopicSchema.Bytes, columns)
    assert(decoder.decode(Messages.tombstone).isNullAt(0))
    assertEquals(decoder.decode(Messages.of(Array.emptyByteArray)).getBinary(0).length, 0)
    val encoder = new RowEncoder(WritePlanner(columns, Some(Messages.topic), None, "auto"))
    assertEquals(encoder.encode(InternalRow(null)).value, null)
    assertEquals(encoder.encode(InternalRow(Array.emptyByteArray)).value.length, 0)
  }

  test("a value of the wrong length is an error with its place") {
    val error = intercept[RuntimeException](Messages.decode(TopicSchema("INT32"), Array[Byte](1, 2)))
    assertEquals(
      error.getMessage,
      s"[PULSAR_VALUE_NOT_DECODABLE] The value of message 12:34:5 in topic ${Messages.topic} does not decode as INT32 (schema version none): the value has 2 " +
        "bytes instead of 4. What to do: Inspect the message with a native client: it does not match the schema it names, or it is damaged. To continue, set onDecodeError to null, drop or dlq."
    )
  }

  test("a value that is one byte too short or too long is refused, whatever its schema") {
    val lengths = Map(
      "BOOLEAN"         -> 1,
      "INT8"            -> 1,
      "INT16"           -> 2,
      "INT32"           -> 4,
      "INT64"           -> 8,
      "FLOAT"           -> 4,
      "DOUBLE"          -> 8,
      "DATE"            -> 8,
      "TIME"            -> 8,
      "TIMESTAMP"       -> 8,
      "LOCAL_DATE"      -> 8,
      "LOCAL_TIME"      -> 8,
      "INSTANT"         -> 12,
      "LOCAL_DATE_TIME" -> 16
    )
    for ((schema, length) <- lengths; wrong <- Seq(length - 1, length + 1) if wrong > 0) {
      val error = intercept[RuntimeException](Messages.decode(TopicSchema(schema), new Array[Byte](wrong)))
      assert(error.getMessage.contains(s"the value has $wrong bytes instead of $length."), error.getMessage)
    }
  }

  test("a BOOLEAN is true unless its byte is 0, as the client has it") {
    for (byte <- Seq[Byte](0, 1, 2, 127, -128, -1))
      assertEquals[Any, Any](Messages.decode(TopicSchema("BOOLEAN"), Array(byte)).getBoolean(0),
        Schema.BOOL.decode(Array(byte)))
  }
}
