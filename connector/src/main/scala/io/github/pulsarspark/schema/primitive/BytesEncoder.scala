package io.github.pulsarspark.schema.primitive

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform
import org.apache.spark.unsafe.types.UTF8String

import io.github.pulsarspark.schema.ValueEncoder
import io.github.pulsarspark.schema.columns.EncodedValue

/** A column of bytes or text as it is.
  *
  * @param isText
  *   true for a column of type STRING, false for BINARY
  */
private[primitive] final class BytesEncoder(ordinal: Int, isText: Boolean) extends ValueEncoder {
  private var copy = new Array[Byte](1024)

  override def encode(row: InternalRow): Array[Byte] =
    if (row.isNullAt(ordinal)) null
    else if (isText) row.getUTF8String(ordinal).getBytes
    else row.getBinary(ordinal)

  override def encode(row: InternalRow, value: EncodedValue): Unit =
    if (row.isNullAt(ordinal)) value.set(null)
    else if (isText) refer(row.getUTF8String(ordinal), value)
    else
      row match {
        // Spark's own rows store bytes as they store texts, and do not check which of them a column is.
        case own: UnsafeRow => refer(own.getUTF8String(ordinal), value)
        case other          => value.set(other.getBinary(ordinal))
      }

  /** Rows that Spark sorted are not in arrays of bytes. */
  private def refer(bytes: UTF8String, value: EncodedValue): Unit = bytes.getBaseObject match {
    case array: Array[Byte] =>
      value.refer(array, (bytes.getBaseOffset - Platform.BYTE_ARRAY_OFFSET).toInt, bytes.numBytes)
    case _ =>
      if (copy.length < bytes.numBytes) copy = new Array[Byte](bytes.numBytes * 2)
      bytes.writeToMemory(copy, Platform.BYTE_ARRAY_OFFSET.toLong)
      value.refer(copy, 0, bytes.numBytes)
  }
}
