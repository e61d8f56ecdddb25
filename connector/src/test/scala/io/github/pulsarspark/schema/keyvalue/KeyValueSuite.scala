package io.github.pulsarspark.schema.keyvalue

import java.nio.charset.StandardCharsets.UTF_8

import scala.util.Random

import org.apache.pulsar.client.api.Schema
import org.apache.pulsar.client.impl.schema.ProtobufNativeSchemaUtils
import org.apache.pulsar.common.schema.KeyValue
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String
import org.scalacheck.{Arbitrary, Gen}
import org.scalacheck.Prop.forAll

import io.github.pulsarspark.PropertySuite
import io.github.pulsarspark.errors.PulsarError
import io.github.pulsarspark.format.entry.MessageView
import io.github.pulsarspark.schema.TopicSchema
import io.github.pulsarspark.schema.rows.{AvroGenerators, Messages, Plain, ProtobufGenerators, RowEncoder, SchemaTranslation, WritePlanner}

/** Pairs by [[KeyValueEncoder]] and [[KeyValueDecoder]]: the client's own code puts keys and values together; each of
  * them is compared with what it is as a value alone.
  */
class KeyValueSuite extends PropertySuite {

  /** A schema and one value of it, null for none. */
  private type Part = (TopicSchema, Array[Byte])

  private val avro: Gen[Part] = AvroGenerators.dataOf(AvroGenerators.anyRecord).map { case (schema, data) =>
    TopicSchema("AVRO", schema.toString) -> data.headOption.map(AvroGenerators.encoded(schema, _)).orNull
  }

  private val json: Gen[Part] = Gen.option(Gen.alphaStr).map { text =>
    TopicSchema("JSON", """{"type":"record","name":"R","fields":[{"name":"a","type":["null","string"]}]}""") ->
      text.map(t => s"""{"a":"$t"}""".getBytes(UTF_8)).orNull
  }

  private val primitive: Gen[Part] = Gen.oneOf(
    Arbitrary.arbLong.arbitrary.map(n => TopicSchema("INT64") -> Schema.INT64.encode(n)),
    Arbitrary.arbLong.arbitrary.map(n => TopicSchema("DATE") -> Schema.INT64.encode(n / 1000)),
    Gen.alphaStr.map(s => TopicSchema("STRING") -> s.getBytes(UTF_8)),
    Gen.alphaStr.map(s => TopicSchema("BYTES") -> s.getBytes(UTF_8)),
    Gen.const(TopicSchema("INT32") -> null)
  )

  private val protobuf: Gen[Part] = Gen.choose(0L, Long.MaxValue).map { seed =>
    val generators = new ProtobufGenerators(new Random(seed))
    val message    = generators.message()
    TopicSchema("PROTOBUF_NATIVE", new String(ProtobufNativeSchemaUtils.serialize(message), UTF_8)) ->
      generators.value(message).toByteArray
  }

  private val part = Gen.oneOf(avro, json, protobuf, primitive)

  private val pairs = for { k <- part; v <- part; separated <- Arbitrary.arbBool.arbitrary } yield (k, v, separated)

  private def message(key: Array[Byte], value: Array[Byte], separated: Boolean): MessageView =
    if (separated) {
      val m = if (value == null) Messages.tombstone else Messages.of(value)
      if (key != null) {
        m.keyBytes = Array[Byte](9) ++ key ++ Array[Byte](9)
        m.keyOffset = 1
        m.keyLength = key.length
      }
      m
    } else Messages.of(KeyValue.encode(key, Schema.BYTES, value, Schema.BYTES))

  private def alone(part: Part): Any = {
    val (schema, bytes) = part
    if (bytes == null) null
    else {
      val columns = SchemaTranslation.toStruct(Messages.topic, schema)
      val row     = Plain.ofRow(Messages.decode(schema, bytes), columns)
      if (SchemaTranslation.formatOf(Messages.topic, schema).isRecord(Messages.topic, schema)) row else row("value")
    }
  }

  property("any pair of schemas is read and written in both encodings") {
    forAll(pairs) { case (key, value, separated) =>
      val schema   = KeyValueSchema(key._1, value._1, separated).toTopicSchema()
      val columns  = SchemaTranslation.toStruct(Messages.topic, schema)
      val decoder  = Messages.decoder(schema, columns)
      val row      = decoder.decode(message(key._2, value._2, separated))
      val expected = Map[String, Any]("key" -> alone(key), "value" -> alone(value))
      assertEquals[Any, Any](Plain.ofRow(row, columns), expected)

      val plan    = WritePlanner(columns, Some(Messages.topic), Some(schema), "auto")
      val written = new RowEncoder(plan).encode(row)
      assertEquals(plan.schema, schema)
      if (separated) assertEquals(written.key == null, key._2 == null) else assertEquals(written.key, null)
      val again = if (separated) message(written.key, written.value, separated) else Messages.of(written.value)
      assertEquals[Any, Any](Plain.ofRow(decoder.decode(again), columns), expected)
    }
  }

  property("a read of one column returns what a read of both does") {
    forAll(pairs) { case (key, value, separated) =>
      val schema  = KeyValueSchema(key._1, value._1, separated).toTopicSchema()
      val columns = SchemaTranslation.toStruct(Messages.topic, schema)
      for (column <- columns) {
        val some = StructType(Seq(column))
        val row  = Messages.decoder(schema, some).decode(message(key._2, value._2, separated))
        assertEquals[Any, Any](Plain.ofRow(row, some),
          Map[String, Any](column.name -> alone(if (column.name == "key") key else value)))
      }
    }
  }

  property("a damaged value is a row or a named error") {
    forAll(pairs, Gen.choose(0L, Long.MaxValue)) { case ((key, value, _), seed) =>
      val random  = new Random(seed)
      val schema  = KeyValueSchema(key._1, value._1, separated = false).toTopicSchema()
      val bytes   = KeyValue.encode(key._2, Schema.BYTES, value._2, Schema.BYTES)
      val damaged = bytes.take(random.nextInt(bytes.length + 1)).map(b =>
        if (random.nextInt(8) == 0) random.nextInt().toByte else b
      )
      try { Messages.decode(schema, damaged); () }
      catch { case e: PulsarError => assertEquals(e.condition, "PULSAR_VALUE_NOT_DECODABLE") }
    }
  }

  test("each message is read with the encoding and the schemas it was written with") {
    def schema(value: String, separated: Boolean) = KeyValueSchema(
      TopicSchema("STRING"),
      TopicSchema("AVRO", s"""{"type":"record","name":"R","fields":[$value]}"""),
      separated
    ).toTopicSchema()
    val reader  = schema("""{"name":"a","type":"long"},{"name":"b","type":"int","default":7}""", separated = true)
    val columns = SchemaTranslation.toStruct(Messages.topic, reader)
    val decoder = Messages.decoder(reader, columns, _ => schema("""{"name":"a","type":"int"}""", separated = false))
    val old     = KeyValue.encode("k", Schema.STRING, Array[Byte](2), Schema.BYTES)
    assertEquals[Any, Any](
      Plain.ofRow(decoder.decode(Messages.of(old, Messages.version(0))), columns),
      Map[String, Any]("key" -> "k", "value" -> Map[String, Any]("a" -> 1L, "b" -> 7))
    )
  }

  private def columns(key: DataType, value: DataType) = new StructType().add("key", key).add("value", value)

  private def made(columns: StructType, choice: KeyValueChoice = KeyValueChoice()) =
    KeyValueSchema.of(WritePlanner(columns, Some(Messages.topic), None, "key_value", choice).schema)

  test("a schema is made of the columns unless options name its types") {
    val record  = new StructType().add("a", LongType)
    val default = made(columns(StringType, record))
    assertEquals((default.key, default.value.schemaType, default.separated), (TopicSchema("STRING"), "AVRO", false))
    val other = made(columns(TimestampType, record), KeyValueChoice.of("timestamp", "json", Some("separated")))
    assertEquals((other.key, other.value.schemaType, other.separated), (TopicSchema("TIMESTAMP"), "JSON", true))
  }

  private def refused(text: String)(body: => Any)(implicit loc: munit.Location): Unit = {
    val error = intercept[IllegalArgumentException] { body; () }
    assert(error.getMessage.contains(text), error.getMessage)
  }

  test("a column that does not fit, refused by its name") {
    refused("Column `key` does not match the KEY_VALUE schema")(made(new StructType().add("value", LongType)))
    refused("Column `more` does not match the KEY_VALUE schema")(
      made(columns(StringType, LongType).add("more", LongType))
    )
    refused("Column `value` does not match")(made(columns(StringType, ArrayType(LongType))))
    refused("Column `value.a b` does not match")(made(columns(StringType, new StructType().add("a b", LongType))))
    refused("values of type INT64 cannot be made of STRING")(
      made(columns(StringType, LongType), KeyValueChoice.of("int64", "auto", None))
    )
    refused("AVRO is made of a struct, the column is STRING")(
      made(columns(StringType, LongType), KeyValueChoice.of("avro", "auto", None))
    )
  }

  test("options that differ from the topic's schema are refused") {
    val own = Some(KeyValueSchema(TopicSchema("STRING"), TopicSchema("INT64"), separated = true).toTopicSchema())
    def plan(choice: KeyValueChoice, schema: Option[TopicSchema] = own) =
      WritePlanner(columns(StringType, LongType), Some(Messages.topic), schema, "auto", choice)
    assertEquals(plan(KeyValueChoice.of("string", "int64", Some("separated"))).schema, own.get)
    refused("in the schema of the topic its encoding is SEPARATED, not INLINE")(
      plan(KeyValueChoice.of("auto", "auto", Some("inline")))
    )
    refused("in the schema of the topic the key is of type STRING, not BYTES")(
      plan(KeyValueChoice.of("bytes", "auto", None))
    )
    refused("options of KEY_VALUE schemas do not go with AVRO")(plan(KeyValueChoice.of("string", "auto", None), None))
  }

  test("a __key next to a key column can only be the same") {
    val schema  = KeyValueSchema(TopicSchema("STRING"), TopicSchema("INT64"), separated = true).toTopicSchema()
    val input   = columns(StringType, LongType).add("__key", BinaryType)
    val encoder = new RowEncoder(WritePlanner(input, Some(Messages.topic), Some(schema), "auto"))
    val k       = UTF8String.fromString("k")
    val sent    = encoder.encode(InternalRow(k, 1L, "k".getBytes))
    assertEquals((new String(sent.key), sent.keyIsBytes), ("k", true))
    val error = intercept[RuntimeException](encoder.encode(InternalRow(k, 1L, "other".getBytes)))
    assert(error.getMessage.contains("[PULSAR_WRITE_VALUE_NOT_ALLOWED] Field `__key`"), error.getMessage)
  }

  test("a definition that is not of a key and a value is refused by name") {
    for (definition <- Seq("", "{}", "no JSON", "[]", "{\"key\":{},\"value\":{},\"separated\":true}")) {
      val schema = TopicSchema(KeyValueSchema.Type, definition)
      val error  = intercept[RuntimeException with PulsarError](SchemaTranslation.toStruct(Messages.topic, schema))
      assertEquals(error.condition, "PULSAR_SCHEMA_NOT_READABLE")
    }
  }

  test("a part without bytes is null, where no bytes are no value") {
    val record =
      TopicSchema("JSON", """{"type":"record","name":"R","fields":[{"name":"a","type":["null","string"]}]}""")
    for (separated <- Seq(true, false)) {
      val schema = KeyValueSchema(TopicSchema("STRING"), record, separated).toTopicSchema()
      val m      = Messages.of(if (separated) Array.emptyByteArray else Array[Byte](0, 0, 0, 1, 'k', 0, 0, 0, 0))
      if (separated) { m.keyBytes = Array('k'); m.keyLength = 1 }
      val row = Messages.decoder(schema, SchemaTranslation.toStruct(Messages.topic, schema)).decode(m)
      assertEquals((row.getUTF8String(0).toString, row.isNullAt(1)), ("k", true), separated)
    }
  }
}
