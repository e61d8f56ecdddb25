package io.github.pulsarspark.schema.json

import java.nio.charset.StandardCharsets.UTF_8
import java.util.{List => JList, Map => JMap}

import scala.beans.BeanProperty
import scala.jdk.CollectionConverters._
import scala.util.{Random, Try}

import org.apache.pulsar.client.api.Schema
import org.apache.spark.sql.types._
import org.scalacheck.{Arbitrary, Gen}
import org.scalacheck.Prop.forAll

import io.github.pulsarspark.PropertySuite
import io.github.pulsarspark.errors.PulsarError
import io.github.pulsarspark.schema.TopicSchema
import io.github.pulsarspark.schema.rows.{Messages, Plain, RowEncoder, SchemaTranslation, WritePlanner}

class JsonSuite extends PropertySuite(200) {
  import io.github.pulsarspark.schema.rows.AvroGenerators._
  import JsonSuite._

  private val topic = Some(Messages.topic)

  property("written values are read back") {
    forAll(dataOf(plainRecord)) { case (schema, data) =>
      val json    = TopicSchema("JSON", schema.toString)
      val columns = SchemaTranslation.toStruct(Messages.topic, json)
      val encoder = new RowEncoder(WritePlanner(columns, topic, Some(json), "auto"))
      val decoder = Messages.decoder(json, columns)
      data.foreach { datum =>
        val value = encoder.encode(Messages.decode(json.copy(schemaType = "AVRO"), encoded(schema, datum))).value
        assertEquals(Plain.ofRow(decoder.decode(Messages.of(value)), columns), Plain.ofAvro(datum, schema))
      }
    }
  }

  property("a read of some columns returns what a read of all does, for any readable value") {
    forAll(dataOf(anyRecord), Gen.choose(0L, Long.MaxValue)) { case ((schema, data), seed) =>
      val random     = new Random(seed)
      val json       = TopicSchema("JSON", schema.toString)
      val columns    = SchemaTranslation.toStruct(Messages.topic, json)
      val some       = StructType(random.shuffle(columns.fields.toSeq).take(1 max columns.size / 2))
      val encoder    = new RowEncoder(WritePlanner(columns, topic, Some(json), "auto"))
      val (all, few) = (Messages.decoder(json, columns), Messages.decoder(json, some))
      data.foreach { datum =>
        val value   = encoder.encode(Messages.decode(json.copy(schemaType = "AVRO"), encoded(schema, datum))).value
        val changed = new String(value, UTF_8).flatMap {
          case _ if random.nextInt(60) == 0                    => s"${"{}[]\",:\\0 \n\u0001" (random.nextInt(11))}"
          case c if ",:{}".contains(c) && random.nextBoolean() => s" $c\t"
          case c                                               => c.toString
        }
        val message = Messages.of((if (random.nextBoolean()) changed else new String(value, UTF_8)).getBytes(UTF_8))
        val whole   = Try(Plain.ofRow(all.decode(message), columns))
        val part    = Try(Plain.ofRow(few.decode(message), some))
        part.failed.foreach {
          case e: PulsarError => assertEquals(e.condition, "PULSAR_VALUE_NOT_DECODABLE")
          case other          => throw other
        }
        whole.foreach(w => assertEquals(part.get, some.fieldNames.map(n => n -> w(n)).toMap))
      }
    }
  }

  property("a damaged value is a row or a named error") {
    forAll(dataOf(anyRecord), Gen.choose(0L, Long.MaxValue)) { case ((schema, data), seed) =>
      val random  = new Random(seed)
      val json    = TopicSchema("JSON", schema.toString)
      val columns = SchemaTranslation.toStruct(Messages.topic, json)
      val encoder = new RowEncoder(WritePlanner(columns, topic, Some(json), "auto"))
      val decoder = Messages.decoder(json, columns)
      data.foreach { datum =>
        val value   = encoder.encode(Messages.decode(json.copy(schemaType = "AVRO"), encoded(schema, datum))).value
        val damaged =
          value.take(random.nextInt(value.length + 1)).map(b =>
            if (random.nextInt(20) == 0) "{}[]\",:0" (random.nextInt(8)).toByte else b
          )
        try { decoder.decode(Messages.of(damaged)); () }
        catch { case e: PulsarError => assertEquals(e.condition, "PULSAR_VALUE_NOT_DECODABLE") }
      }
    }
  }

  property("values of Java's client are read, and the other way round") {
    val client  = Schema.JSON(classOf[Event])
    val json    = TopicSchema("JSON", new String(client.getSchemaInfo.getSchema, UTF_8))
    val columns = SchemaTranslation.toStruct(Messages.topic, json)
    val encoder = new RowEncoder(WritePlanner(columns, topic, Some(json), "auto"))
    val decoder = Messages.decoder(json, columns)
    forAll(events) { event =>
      val read = decoder.decode(Messages.of(client.encode(event)))
      assertEquals(Plain.ofRow(read, columns), event.plain)
      assertEquals(client.decode(encoder.encode(read).value).plain, event.plain)
    }
  }

  private def json(fields: String) = TopicSchema("JSON", s"""{"type":"record","name":"R","fields":[$fields]}""")

  private def read(schema: TopicSchema, value: String): Map[String, Any] =
    Plain.ofRow(Messages.decode(schema, value.getBytes(UTF_8)), SchemaTranslation.toStruct(Messages.topic, schema))

  private val numbers = json(
    """{"name":"i","type":"int"},{"name":"l","type":["null","long"]},{"name":"d","type":"double"},{"name":"s","type":["null","string"]}"""
  )

  private def row(fields: (String, Any)*): Map[String, Any] = fields.toMap

  private def bits(d: Double) = Plain.Bits(java.lang.Double.doubleToRawLongBits(d))

  test("values of Python's json.dumps are read: bare NaN, indents, any order, nulls, unknown fields") {
    assertEquals[Any, Any](
      read(numbers,
        "{\n \"d\": NaN,\n \"other\": {\"i\": [1, {}]},\n \"s\": null,\n \"i\": 3,\n \"l\": 9007199254740993\n}"),
      row("i" -> 3, "l" -> 9007199254740993L, "d" -> bits(Double.NaN), "s" -> null)
    )
    assertEquals[Any, Any](read(numbers, """{"d": -Infinity}""")("d"), bits(Double.NegativeInfinity))
    assertEquals[Any, Any](read(numbers, """{"d": "Infinity"}""")("d"), bits(Double.PositiveInfinity))
  }

  test("fields that are missing are null, and so is everything in a null") {
    val none = Map("i" -> null, "l" -> null, "d" -> null, "s" -> null)
    assertEquals[Any, Any](read(numbers, "{}"), none)
    assertEquals[Any, Any](read(numbers, "null"), none)
  }

  test("no value of one message is left in the next row") {
    val columns             = SchemaTranslation.toStruct(Messages.topic, numbers)
    val decoder             = Messages.decoder(numbers, columns)
    def next(value: String) = Plain.ofRow(decoder.decode(Messages.of(value.getBytes(UTF_8))), columns)
    assertEquals[Any, Any](next("""{"i":1,"l":2,"d":3,"s":"x"}""")("l"), 2L)
    assertEquals[Any, Any](next("""{"d":null}"""), row("i" -> null, "l" -> null, "d" -> null, "s" -> null))
    assertEquals[Any, Any](next("""{"i":1,"l":2,"d":3,"s":"x"}""")("s"), "x")
    intercept[RuntimeException](next("""{"i":5,"l":"""))
    assertEquals[Any, Any](next("""{"i":6}"""), row("i" -> 6, "l" -> null, "d" -> null, "s" -> null))
  }

  test("numbers in texts and texts in numbers are read as Jackson reads them") {
    assertEquals[Any, Any](
      read(numbers, """{"i":"7","l":8.0,"d":"1e3","s":12.50}"""),
      row("i" -> 7, "l" -> 8L, "d" -> bits(1000), "s" -> "12.50")
    )
  }

  test("unions are read in Avro's JSON form and plain") {
    val unions =
      json(
        """{"name":"a","type":["null","string"]},{"name":"r","type":["null",{"type":"record","name":"ns.X","fields":[{"name":"n","type":"int"}]}]},
      {"name":"w","type":["int","long"]},{"name":"m","type":["null","int","string",{"type":"map","values":"int"},"boolean","double"]}"""
      )
    assertEquals[Any, Any](
      read(unions, """{"a":{"string":"x"},"r":{"ns.X":{"n":1}},"w":{"long":5},"m":{"int":3}}"""),
      row("a" -> "x", "r" -> Map("n" -> 1), "w" -> 5L, "m" -> member(0, 3))
    )
    assertEquals[Any, Any](
      read(unions, """{"a":"x","r":{"n":1},"w":5,"m":"t"}"""),
      row("a" -> "x", "r" -> Map("n" -> 1), "w" -> 5L, "m" -> member(1, "t"))
    )
    assertEquals[Any, Any](read(unions, """{"m":{"k":3}}""")("m"), member(2, Map("k" -> 3)))
    assertEquals[Any, Any](read(unions, """{"m":true}""")("m"), member(3, true))
    assertEquals[Any, Any](read(unions, """{"m":1.5}""")("m"), member(4, bits(1.5)))
    assertEquals[Any, Any](read(unions, """{"m":{"string":null}}""")("m"), member(1, null))
  }

  private def member(i: Int, value: Any) = (0 until 5).map(n => s"member$n" -> (if (n == i) value else null)).toMap

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

  private def one(fieldType: String, value: String): Any =
    read(json(s"""{"name":"x","type":$fieldType}"""), s"""{"x":$value}""")("x")

  private def logical(base: String, name: String) = s"""{"type":"$base","logicalType":"$name"}"""

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

  test("texts and names may be as long as a message") {
    val long = "x" * 20000001
    assertEquals[Any, Any](read(numbers, s"""{"s":"$long"}""")("s"), long)
    assertEquals[Any, Any](read(numbers, s"""{"${long.take(60000)}":1,"i":2}""")("i"), 2)
  }

  test("bytes that are no base64 are named by their field") {
    val e = intercept[RuntimeException](one("\"bytes\"", "\"not base64!\""))
    assert(e.getMessage.contains("VALUE_STRING at /x is not base64 text"), e.getMessage)
  }

  test("an empty payload is a tombstone") {
    assertEquals[Any, Any](read(numbers, ""), Map("i" -> null, "l" -> null, "d" -> null, "s" -> null))
  }

  test("a field of a later version has its default, one that was renamed keeps its value") {
    val old     = json("""{"name":"was","type":"int"},{"name":"left","type":["null","int"]}""")
    val current = json(
      """{"name":"is","type":"int","aliases":["was"]},{"name":"later","type":"int","default":9},{"name":"left","type":["int","null"],"default":4}"""
    )
    val columns = SchemaTranslation.toStruct(Messages.topic, current)
    val decoder = Messages.decoder(current, columns, _ => old)
    assertEquals[Any, Any](
      Plain.ofRow(decoder.decode(Messages.of("""{"was":5}""".getBytes, Messages.version(1))), columns),
      row("is" -> 5, "later" -> 9, "left" -> null)
    )
  }

  private def refused(value: String, reason: String)(implicit loc: munit.Location): Unit =
    assertEquals(
      intercept[RuntimeException](read(numbers, value)).getMessage,
      s"[PULSAR_VALUE_NOT_DECODABLE] The value of message 12:34:5 in topic ${Messages.topic} does not decode as JSON (schema version none): $reason. What to do: " +
        "Inspect the message with a native client: it does not match the schema it names, or it is damaged. To continue, set onDecodeError to null, drop or dlq."
    )

  test("values of another type than the schema's are refused") {
    refused(" ", "the value is empty")
    refused("[]", "START_ARRAY at the top is not an object")
    refused("""{"i":[1]}""", "START_ARRAY at /i is not a number")
    refused("""{"i":3000000000}""", "3000000000 is not an int")
    refused("""{"i":1.5}""", "1.5 is not a whole number of 64 bits")
    refused("""{"s":"x" "i":1}""",
      "Unexpected character ('\"' (code 34)): was expecting comma to separate Object entries")
    refused("""{"d":"much"}""", "VALUE_STRING at /d is not a number")
  }

  test("a value that is not a record is in the column value") {
    val array   = TopicSchema("JSON", """{"type":"array","items":"int"}""")
    val columns = SchemaTranslation.toStruct(Messages.topic, array)
    assertEquals(columns, StructType(Seq(StructField("value", ArrayType(IntegerType)))))
    assertEquals[Any, Any](read(array, "[1,null]"), row("value" -> Vector[Any](1, null)))
  }
}

object JsonSuite {

  /** A class as Java users have it. */
  class Event {
    @BeanProperty var id: Long                             = 0
    @BeanProperty var small: java.lang.Integer             = _
    @BeanProperty var name: String                         = _
    @BeanProperty var ratio: Double                        = 0
    @BeanProperty var weight: java.lang.Float              = _
    @BeanProperty var payload: Array[Byte]                 = _
    @BeanProperty var tags: JList[String]                  = _
    @BeanProperty var counts: JMap[String, java.lang.Long] = _
    @BeanProperty var kind: java.time.DayOfWeek            = _
    @BeanProperty var inner: Inner                         = _

    def plain: Map[String, Any] = Map(
      "id"      -> id,
      "small"   -> small,
      "name"    -> name,
      "ratio"   -> Plain.ofSpark(ratio, DoubleType),
      "weight"  -> Plain.ofSpark(weight, FloatType),
      "payload" -> Option(payload).map(_.toVector).orNull,
      "tags"    -> Option(tags).map(_.asScala.toVector).orNull,
      "counts"  -> Option(counts).map(_.asScala.toMap).orNull,
      "kind"    -> Option(kind).map(_.name).orNull,
      "inner"   -> Option(inner).map(i => Map("flag" -> i.flag)).orNull
    )
  }

  class Inner {
    @BeanProperty var flag: Boolean = false
  }

  private def orNull[T <: AnyRef](gen: Gen[T]): Gen[T] = Gen.option(gen).map(_.getOrElse(null.asInstanceOf[T]))

  val events: Gen[Event] = for {
    id      <- Arbitrary.arbitrary[Long]
    small   <- orNull(Arbitrary.arbitrary[Int].map(Int.box))
    name    <- orNull(Gen.alphaNumStr.map(_ + "\"é😀\u0001"))
    ratio   <- Gen.oneOf(Arbitrary.arbitrary[Double], Gen.oneOf(Double.NaN, Double.PositiveInfinity, -0.0))
    weight  <- orNull(Gen.oneOf(Arbitrary.arbitrary[Float], Gen.const(Float.NegativeInfinity)).map(Float.box))
    payload <- orNull(Gen.listOf(Arbitrary.arbitrary[Byte]).map(_.toArray))
    tags    <- orNull(Gen.listOf(Gen.alphaStr).map(_.asJava))
    counts  <- orNull(Gen.mapOf(Gen.zip(Gen.alphaStr, Arbitrary.arbitrary[Long].map(Long.box))).map(_.asJava))
    kind    <- orNull(Gen.oneOf(java.time.DayOfWeek.values.toSeq))
    flag    <- orNull(Arbitrary.arbitrary[Boolean].map(Boolean.box))
  } yield {
    val event = new Event
    event.id = id; event.small = small; event.name = name; event.ratio = ratio; event.weight = weight
    event.payload = payload; event.tags = tags; event.counts = counts; event.kind = kind
    if (flag != null) { event.inner = new Inner; event.inner.flag = flag }
    event
  }
}
