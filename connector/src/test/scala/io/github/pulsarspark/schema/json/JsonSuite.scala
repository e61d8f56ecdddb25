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

/** Values by [[JsonDecoder]], whose readers [[JsonReaderCompiler]] makes of two schemas. */
class JsonSuite extends PropertySuite {
  import io.github.pulsarspark.schema.rows.AvroGenerators._
  import JsonSuite._
  import JsonTexts._

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

  private val numbers = json(
    """{"name":"i","type":"int"},{"name":"l","type":["null","long"]},{"name":"d","type":"double"},{"name":"s","type":["null","string"]}"""
  )

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

  test("texts and names may be as long as a message") {
    val long = "x" * 20000001
    assertEquals[Any, Any](read(numbers, s"""{"s":"$long"}""")("s"), long)
    assertEquals[Any, Any](read(numbers, s"""{"${long.take(60000)}":1,"i":2}""")("i"), 2)
  }

  test("bytes that are no base64 are named by their field") {
    val e = intercept[RuntimeException](one("\"bytes\"", "\"not base64!\""))
    assert(e.getMessage.contains("VALUE_STRING at /x is not base64 text"), e.getMessage)
  }

  test("an empty payload, a row of nulls") {
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
