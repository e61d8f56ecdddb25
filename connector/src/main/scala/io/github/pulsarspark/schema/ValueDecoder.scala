package io.github.pulsarspark.schema

import org.apache.spark.sql.catalyst.InternalRow

import io.github.pulsarspark.format.entry.MessageView

/** Puts the value of a message into the value columns of a row. Only called for messages that have one, unless its
  * format takes tombstones ([[SchemaFormat.takesTombstones]]).
  */
private[pulsarspark] abstract class ValueDecoder {

  /** Fails with any exception when the bytes are not what they should be; the row is not used then. */
  def decode(m: MessageView, row: InternalRow): Unit
}
