package io.github.pulsarspark.schema.rows

import java.util.Arrays

import org.apache.spark.sql.catalyst.InternalRow

import io.github.pulsarspark.schema.WritePlan
import io.github.pulsarspark.schema.columns.{MetadataColumns, MetadataWriter, OutgoingMessage}

/** Turns rows into messages by a [[WritePlan]]. Created once per task, not thread-safe. */
private[pulsarspark] final class RowEncoder(plan: WritePlan) {
  private val message     = new OutgoingMessage
  private val value       = SchemaTranslation.encoder(plan)
  private val separateKey = SchemaTranslation.separateKey(plan).orNull
  private val metadata    = new MetadataEncoder(plan)

  /** Returns the same object each time. Fails with a named error when the row cannot be written. */
  def encode(row: InternalRow): OutgoingMessage = {
    metadata.set(row, message)
    if (separateKey != null) setKeyOfColumn(row)
    value.encode(row, message.payload)
    message
  }

  /** The column `key` is the key of the message. A `__key` next to it, as in rows that were read, must be the same. */
  private def setKeyOfColumn(row: InternalRow): Unit = {
    val encoded = separateKey.encode(row)
    if (message.key != null && !Arrays.equals(message.key, encoded))
      throw plan.refused(MetadataColumns.Key.name, "something else than the column `key`",
        "that column is the key of the message")
    message.key = encoded
    message.keyIsBytes = true
  }
}

/** Sets the metadata columns of a row on a message; null sets nothing. Created once per task and topic, not
  * thread-safe.
  */
private final class MetadataEncoder(plan: WritePlan) {
  private val columns =
    for {
      column  <- MetadataColumns.inWrites
      ordinal <- plan.metadata.get(column.name)
      writes  <- column.writer
    } yield ordinal -> writes.writer(new MetadataWriter.Input(plan.input(ordinal).dataType,
      plan.refused(column.name, _, _)))

  private val ordinals: Array[Int]           = columns.map(_._1).toArray
  private val writers: Array[MetadataWriter] = columns.map(_._2).toArray

  def set(row: InternalRow, message: OutgoingMessage): Unit = {
    message.clear()
    var i = 0
    while (i < writers.length) {
      if (!row.isNullAt(ordinals(i))) writers(i).set(row, ordinals(i), message)
      i += 1
    }
  }
}
