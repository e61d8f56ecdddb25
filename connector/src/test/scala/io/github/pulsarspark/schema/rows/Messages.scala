package io.github.pulsarspark.schema.rows

import java.nio.ByteBuffer

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.StructType

import io.github.pulsarspark.format.entry.MessageView
import io.github.pulsarspark.schema.{SchemaVersions, TopicSchema}

/** Messages as the log decoder leaves them, and decoders for them. */
object Messages {
  val topic = "persistent://public/default/events-partition-3"

  /** The value lies somewhere in the array, as in an entry. */
  def of(value: Array[Byte], version: Array[Byte] = Array.emptyByteArray): MessageView = {
    val m = new MessageView
    m.ledgerId = 12
    m.entryId = 34
    m.batchIndex = 5
    m.batchSize = 10
    m.schemaVersion = version
    m.bytes = Array[Byte](1, 2, 3) ++ value ++ Array[Byte](4, 5)
    m.valueOffset = 3
    m.valueLength = value.length
    m
  }

  def tombstone: MessageView = {
    val m = of(Array.emptyByteArray)
    m.valueIsNull = true
    m
  }

  def version(n: Long): Array[Byte] = ByteBuffer.allocate(8).putLong(n).array

  def noOtherVersion(version: Array[Byte]): TopicSchema =
    sys.error(s"nobody asked for version ${SchemaVersions.text(version)}")

  def decoder(
      schema: TopicSchema,
      columns: StructType,
      schemaAt: Array[Byte] => TopicSchema = noOtherVersion
  ): RowDecoder =
    RowDecoder(topic, 3, columns, schema, schemaAt)

  /** All value columns of a message that was written with `schema`. */
  def decode(schema: TopicSchema, value: Array[Byte]): InternalRow =
    decoder(schema, SchemaTranslation.toStruct(topic, schema)).decode(of(value))
}
