package io.github.pulsarspark.schema.rows

import java.util.Arrays

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.StringType

import io.github.pulsarspark.schema.WritePlan
import io.github.pulsarspark.schema.columns.OutgoingMessage

/** Turns rows into messages as a [[WritePlan]] says. Made once per task, not thread-safe. */
private[pulsarspark] final class RowEncoder(plan: WritePlan) {
  private val message     = new OutgoingMessage
  private val value       = SchemaTranslation.encoder(plan)
  private val separateKey = SchemaTranslation.separateKey(plan).orNull
  private val topic       = plan.metadata.getOrElse("__topic", -1)
  private val key         = plan.metadata.getOrElse("__key", -1)
  private val metadata    = new MetadataEncoder(plan)
  private val keyIsText   = key >= 0 && plan.input(key).dataType.isInstanceOf[StringType]

  message.keyIsBytes = separateKey != null || key >= 0 && !keyIsText

  /** The same object each time. Fails with a named error when the row cannot be written. */
  def encode(row: InternalRow): OutgoingMessage = {
    message.topic = if (topic < 0 || row.isNullAt(topic)) null else row.getUTF8String(topic)
    message.key = if (separateKey == null) givenKey(row) else keyOfColumn(row)
    metadata.set(row, message)
    message.value = value.encode(row)
    message
  }

  private def givenKey(row: InternalRow): Array[Byte] =
    if (key < 0 || row.isNullAt(key)) null
    else if (keyIsText) plan.text(row.getUTF8String(key), "__key").getBytes
    else row.getBinary(key)

  /** The column `key` is the key of the message; a `__key` next to it, as in rows that were read, can only be the same.
    */
  private def keyOfColumn(row: InternalRow): Array[Byte] = {
    val encoded = separateKey.encode(row)
    val named   = givenKey(row)
    if (named != null && !Arrays.equals(named, encoded))
      throw plan.refused("__key", "something else than the column `key`", "that column is the key of the message")
    encoded
  }
}
