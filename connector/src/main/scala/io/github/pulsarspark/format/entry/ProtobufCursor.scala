package io.github.pulsarspark.format.entry

import java.lang.invoke.MethodHandles
import java.nio.ByteOrder

/** Stored bytes that break their own format. Caught by `EntryDecoder`, which knows topic and position; without a stack
  * trace, as only the text is used.
  */
private[pulsarspark] final class MalformedBytes(problem: String) extends RuntimeException(problem, null, false, false)

/** Steps through the protobuf fields in a range of a byte array.
  *
  * Written by hand because it runs once per message: it makes no object and never reads outside its range, whatever the
  * bytes are. It has mutable state for the same reason. A caller loops over `nextTag()` and either reads the field the
  * tag announces or skips it, so unknown fields of newer versions do no harm.
  *
  * @param problem
  *   how error texts begin
  */
private[pulsarspark] final class ProtobufCursor(problem: String = "malformed metadata") {
  private var bytes: Array[Byte] = MessageView.NoBytes
  private var position           = 0
  private var limit              = 0

  /** Start index of the bytes that `range()` skipped last. */
  var rangeStart: Int = 0

  /** Looks at `length` bytes of `source` from `from` on, which the caller has checked to be inside it. */
  def over(source: Array[Byte], from: Int, length: Int): Unit = {
    bytes = source
    position = from
    limit = from + length
  }

  /** The next field's number and wire type as they are stored, `number << 3 | type`; 0 at the end. */
  def nextTag(): Int =
    if (position == limit) 0
    else {
      val tag = int()
      if (tag >>> 3 == 0) malformed("a field has number 0")
      tag
    }

  /** Reads numbers of up to eight bytes without a branch for each byte: takes eight bytes at once, cuts after the first
    * one without the continuation bit, then removes those bits.
    */
  def long(): Long =
    if (bytes.length - position < 8) longByByte()
    else {
      val eight = ProtobufCursor.LittleEndian.get(bytes, position): Long
      val stops = ~eight & 0x8080808080808080L
      val after = position + (java.lang.Long.numberOfTrailingZeros(stops) >>> 3) + 1
      if (stops == 0 || after > limit) longByByte()
      else {
        position = after
        val sevens    = eight & (stops ^ (stops - 1)) & 0x7f7f7f7f7f7f7f7fL
        val fourteens = (sevens & 0x007f007f007f007fL) | (sevens & 0x7f007f007f007f00L) >>> 1
        val halves    = (fourteens & 0x00003fff00003fffL) | (fourteens & 0x3fff00003fff0000L) >>> 2
        (halves & 0x000000000fffffffL) | (halves & 0x0fffffff00000000L) >>> 4
      }
    }

  /** Reads a varint byte by byte: one that is longer, close to the end of the array, or malformed. */
  private def longByByte(): Long = {
    var value = 0L
    var shift = 0
    var byte  = -1
    while (byte < 0) {
      if (position >= limit) malformed("a number is cut off")
      if (shift == 70) malformed("a number is longer than 10 bytes")
      byte = bytes(position).toInt
      position += 1
      value |= (byte & 0x7fL) << shift
      shift += 7
    }
    value
  }

  /** Reads a varint. Most numbers of a message are lengths and flags, one byte each. */
  def int(): Int = {
    val at = position
    if (at < limit && bytes(at) >= 0) {
      position = at + 1
      bytes(at).toInt
    } else long().toInt
  }

  def boolean(): Boolean = long() != 0

  def fixed32(): Int = {
    advance(4)
    fourAt(position - 4)
  }

  def fixed64(): Long = {
    advance(8)
    (fourAt(position - 4).toLong << 32) | (fourAt(position - 8) & 0xffffffffL)
  }

  private def fourAt(at: Int): Int =
    (bytes(at) & 0xff) | (bytes(at + 1) & 0xff) << 8 | (bytes(at + 2) & 0xff) << 16 | (bytes(at + 3) & 0xff) << 24

  /** Array that the ranges index. */
  def array: Array[Byte] = bytes

  def isAtEnd: Boolean = position == limit

  /** Steps over a string, byte string or nested message and returns its length; it begins at `rangeStart`. */
  def range(): Int = {
    val length = int()
    advance(length)
    rangeStart = position - length
    length
  }

  /** Confines the cursor to the range that was skipped last, and returns the value with which `leave` continues after
    * it.
    */
  def enter(): Int = {
    val outer = limit
    limit = position
    position = rangeStart
    outer
  }

  def leave(outer: Int): Unit = {
    position = limit
    limit = outer
  }

  def skip(tag: Int): Unit = tag & 7 match {
    case 0     => long(); ()
    case 1     => advance(8)
    case 2     => range(); ()
    case 5     => advance(4)
    case other => malformed(s"field ${tag >>> 3} has the unknown wire type $other")
  }

  private def advance(length: Int): Unit = {
    if (length < 0 || length > limit - position)
      malformed(s"a field of $length bytes is longer than the ${limit - position} bytes left")
    position += length
  }

  private def malformed(details: String): Nothing = throw new MalformedBytes(s"$problem: $details")
}

private object ProtobufCursor {
  private val LittleEndian = MethodHandles.byteArrayViewVarHandle(classOf[Array[Long]], ByteOrder.LITTLE_ENDIAN)
}
