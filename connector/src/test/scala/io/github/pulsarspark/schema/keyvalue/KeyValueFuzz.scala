package io.github.pulsarspark.schema.keyvalue

import java.nio.ByteBuffer

import io.github.pulsarspark.fuzz.FuzzTarget
import io.github.pulsarspark.schema.TopicSchema
import io.github.pulsarspark.schema.rows.{Messages, Plain, SchemaTranslation}

/** KEY_VALUE values, keys inside and beside them, and numbers, texts and times alone; the first byte selects a schema.
  */
object KeyValueFuzz extends FuzzTarget {
  private val record = TopicSchema("JSON", """{"type":"record","name":"R","fields":[{"name":"a","type":"int"}]}""")
  private val types  = Seq(
    "STRING",
    "BOOLEAN",
    "INT8",
    "INT16",
    "INT32",
    "INT64",
    "FLOAT",
    "DOUBLE",
    "DATE",
    "TIME",
    "TIMESTAMP",
    "INSTANT",
    "LOCAL_DATE",
    "LOCAL_TIME",
    "LOCAL_DATE_TIME",
    "BYTES"
  ).map(TopicSchema(_))
  private val schemas = Seq(
    KeyValueSchema(TopicSchema("INT32"), TopicSchema("STRING"), separated = false).toTopicSchema(),
    KeyValueSchema(record, TopicSchema("INT64"), separated = false).toTopicSchema(),
    KeyValueSchema(TopicSchema("STRING"), record, separated = true).toTopicSchema()
  ) ++ types
  private lazy val columns = schemas.map(SchemaTranslation.toStruct(Messages.topic, _))

  private def pair(key: Array[Byte], value: Array[Byte]) =
    ByteBuffer.allocate(8 + key.length + value.length).putInt(key.length).put(key).putInt(value.length).put(value).array

  override def seeds: Seq[Array[Byte]] = Seq(
    0.toByte +: pair(Array[Byte](0, 0, 0, 7), "text".getBytes),
    1.toByte +: pair("{\"a\":1}".getBytes, Array[Byte](0, 0, 0, 0, 0, 0, 0, 1)),
    2.toByte +: "{\"a\":1}".getBytes,
    3.toByte +: "text".getBytes
  ) ++
    Seq(4 -> 1, 5 -> 1, 6 -> 2, 7 -> 4, 8 -> 8, 9 -> 4, 10 -> 8, 11 -> 8, 12 -> 8, 13 -> 8, 14 -> 12, 15 -> 8, 16 -> 8,
      17  -> 16).map { case (which, size) => which.toByte +: Array.fill(size)(0.toByte) }

  override def decode(bytes: Array[Byte]): Any = {
    val which   = (bytes.headOption.fold(0)(_.toInt) & 0xff) % schemas.size
    val message = Messages.of(bytes.drop(1))
    if (which == 2) {
      message.keyBytes = bytes
      message.keyOffset = 0
      message.keyLength = bytes.length
    }
    Plain.ofRow(Messages.decoder(schemas(which), columns(which)).decode(message), columns(which))
  }
}
