package io.github.pulsarspark.schema

import org.apache.spark.sql.catalyst.InternalRow

/** Encodes the value of a message from a row. Not thread-safe. */
private[pulsarspark] abstract class ValueEncoder {

  /** An array that is not written again, null for a tombstone. */
  def encode(row: InternalRow): Array[Byte]
}
