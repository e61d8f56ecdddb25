package io.github.pulsarspark.schema.json

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.schema.rows.{Messages, Plain, SchemaTranslation}

/** Times and decimals in JSON, by [[JsonTime]]: numbers, texts and arrays that stand for another type. */
class JsonTimesSuite extends UnitSuite {
  import JsonTexts._

  test("times are read in the unit of their writer's version, dates in days, decimals as numbers, bytes in base64") {
    def schema(unit: String) = json(
      s"""{"name":"t","type":{"type":"long","logicalType":"timestamp-$unit"}},{"name":"d","type":{"type":"int","logicalType":"date"}},
         {"name":"n","type":{"type":"bytes","logicalType":"decimal","precision":6,"scale":2}},{"name":"b","type":"bytes"}"""
    )
    val value = """{"t":1700000000123,"d":2932896,"n":1234.5,"b":"AP8="}"""
    val plain = row("t" -> 1700000000123000L, "d" -> 2932896, "n" -> new java.math.BigDecimal("1234.50"),
      "b" -> Vector[Byte](0, -1))
    assertEquals[Any, Any](read(schema("millis"), value), plain)
    val columns = SchemaTranslation.toStruct(Messages.topic, schema("micros"))
    val decoder = Messages.decoder(schema("micros"), columns, _ => schema("millis"))
    assertEquals[Any, Any](Plain.ofRow(decoder.decode(Messages.of(value.getBytes, Messages.version(1))), columns),
      plain)
  }

  test("times are read as Jackson writes classes of java.time, and as ISO 8601") {
    val second = 1704110400L // 2024-01-01T12:00:00Z
    val all    = Seq(
      ("long", "timestamp-micros", "1704110400.000000000", second * 1000000),
      ("long", "timestamp-millis", "1704110400.123456789", second * 1000000 + 123456),
      ("long", "timestamp-millis", "-0.000000001", -1L),
      ("long", "timestamp-millis", "\"1704110400.5\"", second * 1000000 + 500000),
      ("long", "timestamp-nanos", "1704110400.123456789", second * 1000000000 + 123456789),
      ("long", "timestamp-millis", "\"2024-01-01T12:00:00.123Z\"", second * 1000000 + 123000),
      ("long", "timestamp-micros", "\"2024-01-01T13:00:00+01:00\"", second * 1000000),
      ("long", "timestamp-millis", "1704110400000", second * 1000000),
      ("long", "timestamp-millis", "\"1704110400000\"", second * 1000000),
      ("long", "local-timestamp-millis", "[2024,1,1,12,0]", second * 1000000),
      ("long", "local-timestamp-micros", "[2024,1,1,12,0,7]", (second + 7) * 1000000),
      ("long", "local-timestamp-micros", "[2024,1,1,12,0,7,123456789]", (second + 7) * 1000000 + 123456),
      ("long", "local-timestamp-nanos", "[2024,1,1,12,0,7,9]", (second + 7) * 1000000000 + 9),
      ("long", "local-timestamp-millis", "\"2024-01-01T12:00:00.5\"", second * 1000000 + 500000),
      ("int", "date", "[2024,2,29]", 19782),
      ("int", "date", "\"2024-02-29\"", 19782),
      ("int", "date", "19782", 19782),
      ("long", "timestamp-millis", "1704110400000.0", second * 1000000),
      ("long", "timestamp-micros", "1.7041104E15", second * 1000000),
      ("int", "date", "19782.0", 19782),
      ("long", "time-micros", "45000000000.0", 45000000000L),
      ("int", "time-millis", "[12,30]", 45000000),
      ("int", "time-millis", "\"12:30:00.001\"", 45000001),
      ("int", "time-millis", "45000000", 45000000),
      ("long", "time-micros", "[12,30,0,1000]", 45000000001L),
      ("long", "time-micros", "\"12:30:00\"", 45000000000L)
    )
    all.foreach { case (base, name, value, expected) =>
      assertEquals[Any, Any](one(logical(base, name), value), expected, s"$name $value")
      assertEquals[Any, Any](one(s"""["null",${logical(base, name)}]""", value), expected, s"null or $name $value")
      val items = s"""{"type":"array","items":${logical(base, name)}}"""
      assertEquals[Any, Any](one(items, s"[$value,$value]"), Vector(expected, expected), s"array of $name $value")
    }
  }

  test("a time that leaves the moment open, or is none, is an error") {
    Seq(
      "timestamp-millis"       -> "\"2024-01-01T12:00:00\"",
      "timestamp-millis"       -> "[2024,1,1,12,0]",
      "timestamp-millis"       -> "\"yesterday\"",
      "timestamp-millis"       -> "1e400",
      "local-timestamp-millis" -> "\"2024-01-01T12:00:00Z\"",
      "local-timestamp-millis" -> "1704110400.5",
      "local-timestamp-millis" -> "[2024,13,1,12,0]",
      "local-timestamp-millis" -> "[2024,1]",
      "time-micros"            -> "[1,2,3,4,5]",
      "timestamp-millis"       -> "1e-4000000",
      "timestamp-millis"       -> "1704110400000.5",
      "time-millis"            -> "45000000000",
      "date"                   -> "[2024,1,1,12,0]",
      "date"                   -> "\"20240229\""
    ).foreach { case (name, value) =>
      val base = if (Set("date", "time-millis")(name)) "int" else "long"
      val e    = intercept[RuntimeException](one(logical(base, name), value))
      assert(e.getMessage.startsWith("[PULSAR_VALUE_NOT_DECODABLE]"), s"$name $value: $e")
    }
  }

  test("decimals of Kafka Connect's converter are base64 of the unscaled number where the definition says so") {
    def decimal(more: String) =
      s"""{"type":"bytes","logicalType":"decimal","precision":20,"scale":2$more}"""
    val connect          = decimal(""","connect.name":"org.apache.kafka.connect.data.Decimal"""")
    def text(value: Any) = value.asInstanceOf[java.math.BigDecimal].toPlainString
    assertEquals(Seq("\"AMQ=\"", "\"1234\"", "12.34", "\"12.34\"").map(v => text(one(connect, v))),
      Seq("1.96", "-26588.24", "12.34", "12.34"))
    assertEquals(Seq("\"1234\"", "12.34").map(v => text(one(decimal(""), v))), Seq("1234.00", "12.34"))
    assertEquals(text(one(s"""["null",$connect]""", "\"AMQ=\"")), "1.96")
    intercept[RuntimeException](one(connect, "\"\""))
  }

  test("a time of day keeps its value when its unit changes") {
    val old     = json(s"""{"name":"x","type":${logical("int", "time-millis")}}""")
    val current = json(s"""{"name":"x","type":${logical("long", "time-micros")}}""")
    val columns = SchemaTranslation.toStruct(Messages.topic, current)
    val decoder = Messages.decoder(current, columns, _ => old)
    val row     = decoder.decode(Messages.of("""{"x":45000000}""".getBytes, Messages.version(1)))
    assertEquals(row.getLong(0), 45000000000L)
  }
}
