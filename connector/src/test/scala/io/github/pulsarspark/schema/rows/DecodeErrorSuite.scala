package io.github.pulsarspark.schema.rows

import org.apache.spark.sql.types._

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.errors.PulsarError
import io.github.pulsarspark.schema.TopicSchema
import io.github.pulsarspark.schema.columns.ErrorColumns
import io.github.pulsarspark.schema.convert.{DecimalConversion, MalformedValue}

/** Tests values that do not match their schema: each fails with a named error. */
class DecodeErrorSuite extends UnitSuite {

  private def record(fields: String) = s"""{"type": "record", "name": "R", "fields": [$fields]}"""
  private def avro(fields: String)   = TopicSchema("AVRO", record(fields), version = Messages.version(0).toSeq)

  private def refusal(
      decoder: RowDecoder,
      value: Array[Byte],
      version: Array[Byte] = Array.emptyByteArray
  ): Throwable with PulsarError =
    intercept[Exception](decoder.decode(Messages.of(value, version))) match {
      case DecodeError(error) => error
      case other              => fail("not about the value", other)
    }

  private def refusal(schema: TopicSchema, value: Array[Byte]): Throwable with PulsarError =
    refusal(Messages.decoder(schema, SchemaTranslation.toStruct(Messages.topic, schema)), value)

  test("the row of a bad value has its error and its bytes, the next one has not") {
    val schema  = avro("""{"name": "a", "type": "string"}""")
    val columns = StructType(Seq(StructField("a", StringType)) ++ ErrorColumns.all)
    val decoder = RowDecoder(Messages.topic, 3, columns, schema, Messages.noOtherVersion, withErrors = true)
    val bad     = Messages.of(Array(0x7f.toByte, 1))
    val error   = refusal(decoder, Array(0x7f.toByte, 1))
    val row     = decoder.withError(bad, error)
    assert(row.isNullAt(0))
    assert(row.getUTF8String(1).toString.startsWith("[PULSAR_VALUE_NOT_DECODABLE] The value of message 12:34:5"),
      row.getUTF8String(1))
    assertEquals(row.getBinary(2).toSeq, Seq(0x7f.toByte, 1.toByte))
    val good = decoder.decode(Messages.of(Array(2, 'x'.toByte)))
    assertEquals((good.getUTF8String(0).toString, good.isNullAt(1), good.isNullAt(2)), ("x", true, true))
  }

  test("a time that no timestamp holds is null in its row, with the value and all other columns") {
    val schema  = avro("""{"name": "a", "type": "string"}""")
    val columns = StructType(
      Seq(StructField("__eventTime", TimestampType), StructField("__sequenceId", LongType),
        StructField("a", StringType)) ++
        ErrorColumns.all
    )
    val decoder = RowDecoder(Messages.topic, 3, columns, schema, Messages.noOtherVersion, withErrors = true)
    def message(n: Long, eventTime: Long) = {
      val m = Messages.of(Array(2, ('a' + n).toByte))
      m.sequenceId = n
      m.eventTime = eventTime
      m
    }
    assertEquals(decoder.decode(message(0, 5)).getLong(0), 5000L)
    val bad   = message(1, 1700000000000000000L)
    val error = intercept[Exception](decoder.decode(bad)) match {
      case DecodeError(error) => error
      case other              => fail("not about the message", other)
    }
    assertEquals(error.condition, "PULSAR_TIME_OUT_OF_RANGE")
    val row = decoder.withError(bad, error)
    assertEquals((row.isNullAt(0), row.getLong(1), row.getUTF8String(2).toString, row.isNullAt(4)),
      (true, 1L, "b", true))
    assert(row.getUTF8String(3).toString.contains("1700000000000000000 ms"))
    val next = decoder.decode(message(2, 7))
    assertEquals((next.getLong(0), next.getLong(1), next.isNullAt(3)), (7000L, 2L, true))
  }

  test("without being asked for, _error is a column like any other") {
    val columns = new StructType().add("_error", StringType)
    val decoder = Messages.decoder(avro("""{"name": "_error", "type": "string"}"""), columns)
    assertEquals(decoder.decode(Messages.of(Array(2, 'x'.toByte))).getUTF8String(0).toString, "x")
  }

  test("a schema that cannot be resolved is asked for once") {
    var asked   = 0
    val reader  = avro("""{"name": "a", "type": "string"}""")
    val decoder = Messages.decoder(
      reader,
      SchemaTranslation.toStruct(Messages.topic, reader),
      _ => { asked += 1; TopicSchema("INT32") }
    )
    (1 to 3).foreach { _ =>
      assertEquals(refusal(decoder, Array(0, 0, 0, 1), Messages.version(1)).condition, "PULSAR_SCHEMA_NOT_RESOLVABLE")
      decoder.decode(Messages.of(Array(2, 'x'.toByte)))
    }
    assertEquals(asked, 1)
  }

  test("a schema that cannot be had is no matter of the value") {
    val reader  = avro("""{"name": "a", "type": "string"}""")
    val decoder = Messages.decoder(reader, SchemaTranslation.toStruct(Messages.topic, reader),
      _ => throw new IllegalStateException("away"))
    intercept[Exception](decoder.decode(Messages.of(Array(2, 'x'.toByte), Messages.version(1)))) match {
      case DecodeError(e) => fail("taken for a bad value", e)
      case _              => ()
    }
  }

  test("few bytes do not become many items") {
    val schema = avro("""{"name": "a", "type": {"type": "array", "items": "null"}}""")
    val block  = Array[Byte](0x80.toByte, 0x80.toByte, 0x08) // 65536 items
    Messages.decode(schema, block :+ 0.toByte)
    refusal(schema, Array.fill(1000)(block).flatten :+ 0.toByte)
  }

  test("huge exponents and numbers of millions of digits are never expanded") {
    val json = TopicSchema(
      "JSON",
      record(
        """{"name": "d", "type": {"type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 2}}, {"name": "n", "type": "long"}"""
      )
    )
    Seq("""{"d": 1e999999999}""", """{"d": "1e-999999999"}""", """{"n": 1e999999999}""",
      s"""{"d": "${"1" * 5000000}"}""")
      .foreach(value => refusal(json, value.getBytes))
    val row = Messages.decode(json, """{"d": 0e999999999, "n": 10e-1}""".getBytes)
    assertEquals((row.getDecimal(0, 10, 2).toString, row.getLong(1)), ("0.00", 1L))
    val decimals = new DecimalConversion(2, DecimalType(10, 2))
    intercept[MalformedValue](decimals.of(Array.fill[Byte](64 << 20)(1)))
    assertEquals(decimals.of(Array.fill[Byte](100)(0) ++ Array[Byte](123)).toString, "1.23")
  }

  test("values that are nested deeply are refused, wanted or not") {
    val deep    = """{"type": "record", "name": "D", "fields": [{"name": "d", "type": ["null", "D"]}]}"""
    val reader  = avro("""{"name": "z", "type": "string", "default": ""}, {"name": "a", "type": "string"}""")
    val decoder = Messages.decoder(
      reader,
      SchemaTranslation.toStruct(Messages.topic, reader),
      _ =>
        TopicSchema("AVRO", record(s"""{"name": "deep", "type": ["null", $deep]}, {"name": "a", "type": "string"}"""))
    )
    assert(refusal(decoder, Array.fill(100000)(2.toByte), Messages.version(1)).getMessage.contains("nested"))
    val json = TopicSchema("JSON", record("""{"name": "a", "type": "string"}"""))
    refusal(json, s"""{"x": ${"[" * 100000}""".getBytes)
  }
}
