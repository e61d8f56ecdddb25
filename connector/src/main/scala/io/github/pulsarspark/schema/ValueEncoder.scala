package io.github.pulsarspark.schema

import org.apache.spark.sql.catalyst.InternalRow

import io.github.pulsarspark.schema.columns.EncodedValue

/** Encodes the value of a message from a row. Not thread-safe. */
private[pulsarspark] abstract class ValueEncoder {

  /** An array that is not written again, null for a tombstone. */
  def encode(row: InternalRow): Array[Byte]

  /** Like `encode(row)`, but without an array for each row if the encoder has the bytes in a larger one. The next row
    * may overwrite them.
    */
  def encode(row: InternalRow, value: EncodedValue): Unit = value.set(encode(row))
}
