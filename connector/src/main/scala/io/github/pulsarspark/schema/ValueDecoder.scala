package io.github.pulsarspark.schema

import org.apache.spark.sql.catalyst.InternalRow

import io.github.pulsarspark.format.entry.MessageView

/** Sets the value columns of a row from the value of a message. Called only for messages with a value, unless its
  * format accepts tombstones ([[SchemaFormat.takesTombstones]]).
  */
private[pulsarspark] abstract class ValueDecoder {

  /** Fails with any exception when the bytes are malformed; the row is not used then. */
  def decode(m: MessageView, row: InternalRow): Unit
}
