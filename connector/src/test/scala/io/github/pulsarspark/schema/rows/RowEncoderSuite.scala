package io.github.pulsarspark.schema.rows

import scala.jdk.CollectionConverters._

import org.apache.avro.Schema
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.catalyst.util.{ArrayBasedMapData, GenericArrayData}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String
import org.scalacheck.Prop.forAll

import io.github.pulsarspark.PropertySuite
import io.github.pulsarspark.schema.{TopicSchema, WritePlan}

class RowEncoderSuite extends PropertySuite(150) {
  import AvroGenerators._

  private val topic = Some(Messages.topic)

  property("what was read is written back as it was, into the schema of the topic") {
    forAll(dataOf(anyRecord)) { case (schema, data) =>
      val own     = TopicSchema("AVRO", schema.toString)
      val columns = SchemaTranslation.toStruct(Messages.topic, own)
      val plan    = WritePlanner(columns, topic, Some(own), "auto")
      val encoder = new RowEncoder(plan)
      assertEquals(plan.schema, own)
      data.foreach { datum =>
        val written = encoder.encode(Messages.decode(own, encoded(schema, datum))).value
        assertEquals(Plain.ofAvro(decoded(schema, schema, written), schema), Plain.ofAvro(datum, schema))
      }
    }
  }

  for (schemaType <- Seq("AVRO", "JSON"))
    property(s"columns of any type come back from a schema made from them: $schemaType") {
      forAll(RowGenerators.rows) { case (columns, rows) =>
        val plan    = WritePlanner(columns, topic, None, schemaType.toLowerCase)
        val encoder = new RowEncoder(plan)
        val read    = SchemaTranslation.toStruct(Messages.topic, plan.schema)
        val decoder = Messages.decoder(plan.schema, read)
        assertEquals(plan.schema.schemaType, schemaType)
        rows.foreach { row =>
          val back = Plain.ofRow(decoder.decode(Messages.of(encoder.encode(row).value)), read)
          assertEquals(back, widened(Plain.ofRow(row, columns)).asInstanceOf[Map[String, Any]])
        }
      }
    }

  /** Avro has no smaller numbers than int. */
  private def widened(value: Any): Any = value match {
    case b: Byte                                                   => b.toInt
    case s: Short                                                  => s.toInt
    case m: Map[_, _]                                              => m.map { case (k, v) => k -> widened(v) }
    case v: Vector[_] if v.headOption.exists(_.isInstanceOf[Byte]) => v
    case v: Vector[_]                                              => v.map(widened)
    case other                                                     => other
  }

  test("optional metadata columns are encoded, invalid values rejected") {
    val fields = Seq(
      StructField("value", StringType),
      StructField("__orderingKey", BinaryType),
      StructField("__sequenceId", LongType),
      StructField("__partition", IntegerType),
      StructField("__deliverAt", TimestampType),
      StructField("__deliverAfter", DayTimeIntervalType()),
      StructField("__replicationClusters", ArrayType(StringType))
    )
    val plan                  = WritePlanner(StructType(fields), topic, None, "auto")
    def encoded(values: Any*) = new RowEncoder(plan).encode(InternalRow(UTF8String.fromString("v") +: values: _*))
    def refusal(column: String)(body: => Any) =
      assert(
        intercept[RuntimeException](body).getMessage.startsWith(s"[PULSAR_WRITE_VALUE_NOT_ALLOWED] Field `$column`")
      )
    val clusters = new GenericArrayData(Array[Any](UTF8String.fromString("a"), UTF8String.fromString("b")))

    val full = encoded(Array[Byte](1, -1), 7L, 3, 1700000000123999L, null, clusters)
    assertEquals(full.orderingKey.toSeq, Seq[Byte](1, -1))
    assertEquals((full.sequenceId, full.partition, full.deliverAt, full.deliverAfter), (7L, 3, 1700000000123L, 0L))
    assertEquals(full.replicationClusters.asScala.toSeq, Seq("a", "b"))
    val empty = encoded(null, null, null, null, null, null)
    assertEquals((empty.orderingKey, empty.replicationClusters), (null, null))
    assertEquals((empty.sequenceId, empty.partition, empty.deliverAt, empty.deliverAfter), (-1L, -1, 0L, 0L))
    assertEquals(encoded(null, null, null, null, 1001L, null).deliverAfter, 2L)

    refusal("__sequenceId")(encoded(null, -1L, null, null, null, null))
    refusal("__partition")(encoded(null, null, -1, null, null, null))
    refusal("__deliverAt")(encoded(null, null, null, 0L, null, null))
    refusal("__deliverAfter")(encoded(null, null, null, null, -1000L, null))
    refusal("__deliverAfter")(encoded(null, null, null, 1700000000000000L, 1000L, null))
    refusal("__replicationClusters")(encoded(null, null, null, null, null, new GenericArrayData(Array[Any](null))))
    val encoder           = new RowEncoder(plan)
    def numbered(id: Any) =
      encoder.encode(InternalRow(UTF8String.fromString("v"), null, id, null, null, null, null)).sequenceId
    assertEquals(Seq[Any](0L, 5L, null, 6L).map(numbered), Seq(0L, 5L, -1L, 6L))
    refusal("__sequenceId")(numbered(6L))
  }

  test("metadata columns of numbers take numbers of every type, exactly") {
    val fields  = Seq("__sequenceId" -> IntegerType, "__partition" -> LongType, "__eventTime" -> DecimalType(20, 1))
    val input   = StructType(StructField("value", StringType) +: fields.map { case (n, t) => StructField(n, t) })
    val encoder = new RowEncoder(WritePlanner(input, topic, None, "auto"))
    def encoded(partition: Long, eventTime: String) =
      encoder.encode(InternalRow(UTF8String.fromString("v"), null, partition, Decimal(eventTime)))
    val message = encoder.encode(InternalRow(UTF8String.fromString("v"), 7, 3L, Decimal("1700000000123.0")))
    assertEquals((message.sequenceId, message.partition, message.eventTime), (7L, 3, 1700000000123L))
    Seq("__partition" -> (1L << 40, "1.0"), "__eventTime" -> (1L, "1.5")).foreach { case (column, (partition, time)) =>
      val text = intercept[RuntimeException](encoded(partition, time)).getMessage
      assert(text.startsWith(s"[PULSAR_WRITE_VALUE_NOT_ALLOWED] Field `$column`"), text)
    }
  }

  private val columns = StructType(
    Seq(
      StructField("__topic", StringType),
      StructField("value", StringType),
      StructField("__key", StringType),
      StructField("__eventTime", TimestampType),
      StructField("__messageProperties", MapType(StringType, StringType)),
      StructField("__messageId", BinaryType)
    )
  )

  private def text(s: String) = UTF8String.fromString(s)

  private def properties(entries: (String, String)*) =
    new ArrayBasedMapData(
      new GenericArrayData(entries.map(e => text(e._1)).toArray[Any]),
      new GenericArrayData(entries.map(e => Option(e._2).map(text).orNull).toArray[Any])
    )

  test("metadata columns are set on the message, and what Pulsar decides is left out") {
    val encoder = new RowEncoder(WritePlanner(columns, None, None, "auto"))
    val m       = encoder.encode(
      InternalRow(text("t"), text("v"), text("ké"), 1700000000123999L, properties("a" -> "b"), Array[Byte](1))
    )
    assertEquals(m.topic, text("t"))
    assertEquals(new String(m.key, "UTF-8"), "ké")
    assert(!m.keyIsBytes)
    assertEquals(m.eventTime, 1700000000123L)
    assertEquals(m.properties.asScala.toMap, Map("a" -> "b"))
    assertEquals(new String(m.value, "UTF-8"), "v")
    val empty = encoder.encode(new GenericInternalRow(6))
    assertEquals((empty.topic, empty.key, empty.eventTime, empty.properties, empty.value), (null, null, 0L, null, null))
  }

  test("an event time is a TIMESTAMP or a BIGINT of milliseconds, after 1970") {
    val plan = WritePlanner(new StructType().add("value", StringType).add("__eventTime", LongType), topic, None, "auto")
    def eventTime(millis: Any) = new RowEncoder(plan).encode(InternalRow(text("v"), millis)).eventTime
    assertEquals(Seq[Any](1L, 1700000000123L, null).map(eventTime), Seq(1L, 1700000000123L, 0L))
    for (millis <- Seq(0L, -1L))
      assert(intercept[RuntimeException](eventTime(millis)).getMessage.contains(s"`__eventTime` of a row for topic"))
  }

  test("a BINARY key is a text where another column says so, and a STRING key always is") {
    def encoder(key: DataType) = new RowEncoder(
      WritePlanner(new StructType().add("value", StringType).add("__keyIsText", BooleanType).add("__key", key), topic,
        None, "auto")
    )
    val ofBytes                                = encoder(BinaryType)
    def isBytes(isText: Any, key: Array[Byte]) = ofBytes.encode(InternalRow(text("v"), isText, key)).keyIsBytes
    assertEquals(Seq[Any](true, false, null).map(isBytes(_, "ké".getBytes("UTF-8"))), Seq(false, true, true))
    val refusal = intercept[RuntimeException](isBytes(true, Array[Byte](-1))).getMessage
    assert(refusal.startsWith("[PULSAR_WRITE_VALUE_NOT_ALLOWED] Field `__keyIsText` of a row for topic"), refusal)
    assert(isBytes(false, Array[Byte](-1)))
    assertEquals(ofBytes.encode(InternalRow(text("v"), true, null)).key, null)
    assert(!encoder(StringType).encode(InternalRow(text("v"), false, text("k"))).keyIsBytes)
  }

  test("a key column of BINARY, a key of bytes") {
    val plan =
      WritePlanner(StructType(Seq(StructField("__key", BinaryType), StructField("a", IntegerType))), topic, None,
        "auto")
    val m = new RowEncoder(plan).encode(InternalRow(Array[Byte](-1), 5))
    assert(m.keyIsBytes)
    assertEquals(m.key.toSeq, Seq[Byte](-1))
  }

  private def refused(plan: WritePlan, row: InternalRow, text: String)(implicit loc: munit.Location): Unit =
    assertEquals(intercept[RuntimeException](new RowEncoder(plan).encode(row)).getMessage, text)

  test("event times that Pulsar cannot keep and properties without text are refused") {
    val plan = WritePlanner(columns, topic, None, "auto")
    refused(
      plan,
      InternalRow(null, text("v"), null, -1L, null, null),
      s"[PULSAR_WRITE_VALUE_NOT_ALLOWED] Field `__eventTime` of a row for topic ${Messages.topic} holds -1 ms since 1970, which cannot be written: Pulsar keeps " +
        "times after 1970-01-01 00:00:00 UTC only. What to do: Filter or change such rows before the write."
    )
    refused(
      plan,
      InternalRow(null, text("v"), null, null, properties("a" -> null), null),
      s"[PULSAR_WRITE_VALUE_NOT_ALLOWED] Field `__messageProperties` of a row for topic ${Messages.topic} holds null for `a`, which cannot be written: " +
        "properties of messages have a text. What to do: Filter or change such rows before the write."
    )
  }

  private def into(fields: String, columns: StructType, schemaType: String = "AVRO") =
    WritePlanner(columns, topic, Some(TopicSchema(schemaType, s"""{"type":"record","name":"R","fields":[$fields]}""")),
      "auto")

  test("a null where the schema wants a value is refused with its field, and the next row is written") {
    val inner  = StructType(Seq(StructField("n", IntegerType)))
    val nested =
      """{"name":"a","type":{"type":"array","items":{"type":"record","name":"I","fields":[{"name":"n","type":"int"}]}}}"""
    for (schemaType <- Seq("AVRO", "JSON")) {
      val plan             = into(nested, StructType(Seq(StructField("a", ArrayType(inner)))), schemaType)
      val encoder          = new RowEncoder(plan)
      def row(items: Any*) = InternalRow(new GenericArrayData(items.map(i => InternalRow(i)).toArray[Any]))
      val whole            = encoder.encode(row(1, 2)).value.toSeq
      val error            = intercept[RuntimeException](encoder.encode(row(1, null)))
      assertEquals(
        error.getMessage,
        s"[PULSAR_WRITE_NULL_VALUE] Field `a[].n` is null in a row for topic ${Messages.topic}, but its schema does not allow null. What to do: Filter such rows, " +
          "fill the column, or make the field nullable in the schema of the topic."
      )
      assertEquals(encoder.encode(row(1, 2)).value.toSeq, whole)
    }
  }

  test("symbols, sizes and members that the schema does not have are refused") {
    val e = into("""{"name":"e","type":{"type":"enum","name":"E","symbols":["A","B"]}}""",
      StructType(Seq(StructField("e", StringType))))
    refused(
      e,
      InternalRow(text("C")),
      s"[PULSAR_WRITE_VALUE_NOT_ALLOWED] Field `e` of a row for topic ${Messages.topic} holds C, which cannot be written: the symbols of the enum are A, B. " +
        "What to do: Filter or change such rows before the write."
    )
    val f = into("""{"name":"f","type":{"type":"fixed","name":"F","size":2}}""",
      StructType(Seq(StructField("f", BinaryType))))
    refused(
      f,
      InternalRow(Array[Byte](1)),
      s"[PULSAR_WRITE_VALUE_NOT_ALLOWED] Field `f` of a row for topic ${Messages.topic} holds 1 bytes, which cannot be written: the fixed of the schema has 2. " +
        "What to do: Filter or change such rows before the write."
    )
    val members = StructType(Seq(StructField("member0", IntegerType), StructField("member1", StringType)))
    val u       = into("""{"name":"u","type":["int","string"]}""", StructType(Seq(StructField("u", members))))
    refused(
      u,
      InternalRow(InternalRow(1, text("x"))),
      s"[PULSAR_WRITE_VALUE_NOT_ALLOWED] Field `u` of a row for topic ${Messages.topic} holds 2 members, which cannot be written: exactly one member of a union " +
        "is not null. What to do: Filter or change such rows before the write."
    )
  }

  test("parts of a millisecond are refused where the field has none, or cut towards the past, at any depth") {
    def time(kind: String) = s"""{"type":"long","logicalType":"$kind"}"""
    val fields = s"""{"name":"at","type":["null",{"type":"array","items":${time("timestamp-millis")}}]},""" +
      s"""{"name":"local","type":["null",${time("local-timestamp-millis")}]},{"name":"exact","type":["null",${time(
          "timestamp-micros"
        )}]}"""
    val columns =
      new StructType().add("at", ArrayType(TimestampType)).add("local", TimestampNTZType).add("exact", TimestampType)
    for (schemaType <- Seq("AVRO", "JSON")) {
      val plan                                 = into(fields, columns, schemaType)
      val decoder                              = Messages.decoder(plan.schema, columns)
      def row(at: Any, local: Any, exact: Any) =
        InternalRow(if (at == null) null else new GenericArrayData(Array(at)), local, exact)
      def back(plan: WritePlan)(r: InternalRow) =
        Plain.ofRow(decoder.decode(Messages.of(new RowEncoder(plan).encode(r).value)), columns)
      assertEquals(
        back(plan.copy(cutsTimes = true))(row(-1L, 1767225600123999L, 1L)),
        Map[String, Any]("at" -> Vector(-1000L), "local" -> 1767225600123000L, "exact" -> 1L)
      )
      assertEquals(back(plan)(row(-1000L, 1000L, 1L)),
        Map[String, Any]("at" -> Vector(-1000L), "local" -> 1000L, "exact" -> 1L))
      def text(field: String, value: String, kind: String) =
        s"[PULSAR_WRITE_PRECISION_LOSS] Field `$field` of a row for topic ${Messages.topic} holds $value, but its schema, $kind, stores whole milliseconds. " +
          "What to do: Truncate the column with date_trunc('MILLISECOND', ...), set the option timestampPrecision to truncate for all columns, " +
          "or use a schema of microseconds for the field."
      refused(plan, row(-1L, null, null), text("at[]", "1969-12-31T23:59:59.999999", "timestamp-millis"))
      refused(plan, row(null, 1767225600123999L, null),
        text("local", "2026-01-01T00:00:00.123999", "local-timestamp-millis"))
    }
  }

  test("a text that is not UTF-8 goes where bytes are kept, and nowhere else") {
    val wrong                  = UTF8String.fromBytes(Array[Byte]('a', -1))
    val fields                 = """{"name":"s","type":"string"},{"name":"m","type":{"type":"map","values":"int"}}"""
    val columns                = new StructType().add("s", StringType).add("m", MapType(StringType, IntegerType))
    def mapOf(key: UTF8String) =
      new ArrayBasedMapData(new GenericArrayData(Array[Any](key)), new GenericArrayData(Array[Any](1)))
    def reason(field: String) =
      s"[PULSAR_WRITE_VALUE_NOT_ALLOWED] Field `$field` of a row for topic ${Messages.topic} holds bytes that are not UTF-8, which cannot be written: " +
        "a BINARY would hold them. What to do: Filter or change such rows before the write."
    refused(into(fields, columns, "JSON"), InternalRow(wrong, mapOf(text("k"))), reason("s"))
    refused(into(fields, columns, "JSON"), InternalRow(text("ä€😀"), mapOf(wrong)), reason("m"))
    val avro = new RowEncoder(into(fields, columns)).encode(InternalRow(wrong, mapOf(wrong))).value
    assertEquals(avro.toSeq, Seq[Byte](4, 'a', -1, 2, 4, 'a', -1, 2, 0))
    val plan = WritePlanner(this.columns, topic, None, "auto")
    refused(plan, InternalRow(null, text("v"), wrong, null, null, null), reason("__key"))
    val entry =
      new ArrayBasedMapData(new GenericArrayData(Array[Any](text("k"))), new GenericArrayData(Array[Any](wrong)))
    refused(plan, InternalRow(null, text("v"), null, null, entry, null), reason("__messageProperties"))
    assertEquals(new RowEncoder(plan).encode(InternalRow(null, wrong, null, null, null, null)).value.toSeq,
      Seq[Byte]('a', -1))
  }

  test("columns go to fields by name, and fields without a column hold their default or null") {
    val fields =
      """{"name":"a","type":"int"},{"name":"b","type":["null","string"]},{"name":"c","type":"double","default":0.5},{"name":"d","type":"long"}"""
    val plan   = into(fields, StructType(Seq(StructField("d", IntegerType), StructField("a", ShortType))))
    val schema = new Schema.Parser().parse(plan.schema.definition)
    val value  = new RowEncoder(plan).encode(InternalRow(7, 3.toShort)).value
    assertEquals(decoded(schema, schema, value).toString, """{"a": 3, "b": null, "c": 0.5, "d": 7}""")
    val json =
      new RowEncoder(into(fields, StructType(Seq(StructField("d", IntegerType), StructField("a", ShortType))), "JSON"))
    assertEquals(new String(json.encode(InternalRow(7, 3.toShort)).value), """{"a":3,"b":null,"c":0.5,"d":7}""")
  }

  test("a union of numbers and texts takes the branch of the column's type") {
    val plan   = into("""{"name":"u","type":["long","int","string"]}""", StructType(Seq(StructField("u", IntegerType))))
    val schema = new Schema.Parser().parse(plan.schema.definition)
    assertEquals(
      new RowEncoder(plan).encode(InternalRow(5)).value.toSeq,
      encoded(
        schema, {
          val r = new org.apache.avro.generic.GenericData.Record(schema); r.put("u", 5); r
        }
      ).toSeq
    )
  }
}
