package io.github.pulsarspark.schema.columns

import java.util.Arrays

/** The bytes of an encoded value, as a part of an array: one object for all rows of a task, valid until the next row.
  * Has no bytes for a tombstone. Plain variables and nulls, because this is the hot path.
  */
private[pulsarspark] final class EncodedValue {

  /** Null for a tombstone. */
  var array: Array[Byte] = _
  var offset: Int        = 0
  var length: Int        = 0
  private var isOwn      = true

  /** An array that is not written again, or null. */
  def set(bytes: Array[Byte]): Unit = {
    refer(bytes, 0, if (bytes == null) 0 else bytes.length)
    isOwn = true
  }

  /** A part of an array that the next row may overwrite. */
  def refer(bytes: Array[Byte], from: Int, size: Int): Unit = {
    array = bytes
    offset = from
    length = size
    isOwn = false
  }

  /** An array that is not written again, null for a tombstone. */
  def toArray: Array[Byte] = if (isOwn) array else Arrays.copyOfRange(array, offset, offset + length)
}
