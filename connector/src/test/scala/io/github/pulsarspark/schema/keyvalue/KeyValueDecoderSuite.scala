package io.github.pulsarspark.schema.keyvalue

import java.nio.ByteBuffer

import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.types._

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.format.entry.MessageView
import io.github.pulsarspark.schema.TopicSchema
import io.github.pulsarspark.schema.convert.MalformedValue
import io.github.pulsarspark.schema.rows.{Messages, SchemaTranslation}

/** Keys and values in the payload of a message or apart from each other, byte by byte. */
class KeyValueDecoderSuite extends UnitSuite {

  private val (ints, texts) = (TopicSchema("INT32"), TopicSchema("STRING"))
  private val columns       = StructType(Seq(StructField("key", IntegerType), StructField("value", StringType)))

  private def schema(separated: Boolean, key: TopicSchema = ints) =
    KeyValueSchema(key, texts, separated).toTopicSchema()

  /** The columns of a row of three, of which these are the second and the third, or fewer. */
  private def decoded(schema: TopicSchema, m: MessageView, required: StructType = columns): Seq[Any] = {
    val row     = new GenericInternalRow(Array[Any]("before", "x", "y"))
    val places  = required.fieldNames.map(n => if (n == "key") 1 else 2)
    val decoder = SchemaTranslation.decoder(Messages.topic, schema, schema, required, places)
    decoder.decode(m, row)
    (0 until 3).map(i => if (row.isNullAt(i)) None else row.get(i, NullType).toString)
  }

  private def part(bytes: Array[Byte]): Array[Byte] =
    ByteBuffer.allocate(4 + bytes.length).putInt(bytes.length).put(bytes).array
  private val none  = ByteBuffer.allocate(4).putInt(-1).array
  private val seven = Array[Byte](0, 0, 0, 7)

  private def inline(bytes: Array[Byte]*) = Messages.of(bytes.flatten.toArray)

  private def apart(key: Option[Array[Byte]], value: Array[Byte]) = {
    val m = Messages.of(value)
    key.foreach { bytes =>
      m.keyBytes = Array[Byte](9) ++ bytes :+ 9.toByte
      m.keyOffset = 1
    }
    m.keyLength = key.fold(-1)(_.length)
    m
  }

  test("in the payload: a key and a value, each after its length, or null") {
    val kind = schema(separated = false)
    assertEquals(decoded(kind, inline(part(seven), part("v".getBytes))), Seq("before", "7", "v"))
    assertEquals(decoded(kind, inline(none, part(Array.emptyByteArray))), Seq("before", None, ""))
    assertEquals(decoded(kind, inline(part(seven), none)), Seq("before", "7", None))
    assertEquals(decoded(kind, Messages.tombstone), Seq("before", None, None))
  }

  test("in the payload: only what a query needs is decoded, and the rest is passed") {
    val value = StructType(columns.fields.drop(1))
    assertEquals(decoded(schema(separated = false), inline(part(Array[Byte](1)), part("v".getBytes)), value),
      Seq("before", "x", "v"), "a key that no INT32 could be")
  }

  test("apart: the key of the message, which is there without a value, too") {
    val kind = schema(separated = true)
    assertEquals(decoded(kind, apart(Some(seven), "v".getBytes)), Seq("before", "7", "v"))
    assertEquals(decoded(kind, apart(None, "v".getBytes)), Seq("before", None, "v"))
    val tombstone = apart(Some(seven), Array.emptyByteArray)
    tombstone.valueIsNull = true
    assertEquals(decoded(kind, tombstone), Seq("before", "7", None))
  }

  test("a record without bytes is null, where no bytes are no value of it") {
    val record = TopicSchema("JSON", """{"type":"record","name":"R","fields":[{"name":"a","type":["null","int"]}]}""")
    val kind   = schema(separated = false, key = record)
    val key    = StructType(Seq(StructField("key", StructType(Seq(StructField("a", IntegerType))))))
    assertEquals(decoded(kind, inline(part(Array.emptyByteArray), none), key), Seq("before", None, "y"))
    assertEquals(decoded(kind, inline(part("""{"a":5}""".getBytes), none), key), Seq("before", "[5]", "y"))
  }

  for (
    (what, bytes, problem) <- Seq(
      ("no length of the key", Array[Byte](0, 0, 0), "the value ends where the length of its key or value should be"),
      ("no length of the value", part(seven), "the value ends where the length of its key or value should be"),
      ("a longer key than there is", Array[Byte](0, 0, 0, 5, 0, 0, 0, 7),
        "a part of 5 bytes is longer than the 4 bytes left"),
      ("a negative length", Array[Byte](-1, -1, -1, -2), "a part of -2 bytes is longer than the 0 bytes left")
    )
  ) test(s"a damaged value, $what: an error") {
    assertEquals(intercept[MalformedValue](decoded(schema(separated = false), Messages.of(bytes))).getMessage, problem)
  }
}
