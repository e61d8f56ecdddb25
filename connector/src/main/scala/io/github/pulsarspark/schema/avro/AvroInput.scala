package io.github.pulsarspark.schema.avro

import java.lang.Double.longBitsToDouble
import java.lang.Float.intBitsToFloat
import java.util.Arrays

import org.apache.spark.unsafe.types.UTF8String

import io.github.pulsarspark.schema.convert.MalformedValue

/** Reads Avro's binary encoding from a range of an array.
  *
  * Avro's own decoder copies every string and allocates whatever length the bytes claim. Here strings point into the
  * array, which is never written again, and no length is believed beyond the end of the range, so a malformed message
  * fails instead of taking the memory of the task. Avro's generic reader takes almost twice the CPU for all fields
  * (benchmarks/results/micro.md). Not thread-safe.
  */
private[schema] final class AvroInput {
  private var bytes: Array[Byte] = Array.emptyByteArray
  private var pos                = 0
  private var end                = 0
  private var depth              = 0
  private var itemsLeft          = 0

  def reset(bytes: Array[Byte], offset: Int, length: Int): this.type = {
    this.bytes = bytes
    pos = offset
    end = offset + length
    depth = 0
    itemsLeft = math.max(length, AvroInput.MaxEmptyItems)
    this
  }

  def remaining: Int = end - pos

  def boolean(): Boolean = byte() match {
    case 0 => false
    case 1 => true
    case b => throw new MalformedValue(s"$b is not a boolean")
  }

  private def byte(): Byte = {
    if (pos >= end) throw tooShort(1)
    val b = bytes(pos)
    pos += 1
    b
  }

  def long(): Long = {
    var shift = 0
    var raw   = 0L
    var b     = 0
    while ({
      b = byte().toInt
      raw |= (b & 0x7fL) << shift
      shift += 7
      b < 0
    }) if (shift > 63) throw tooLong()
    (raw >>> 1) ^ -(raw & 1)
  }

  def int(): Int = {
    val l = long()
    if (l != l.toInt) throw new MalformedValue(s"$l is not an int")
    l.toInt
  }

  def float(): Float = {
    val at = take(4)
    intBitsToFloat(littleEndian(at))
  }

  def double(): Double = {
    val at = take(8)
    longBitsToDouble((littleEndian(at + 4).toLong << 32) | (littleEndian(at) & 0xffffffffL))
  }

  private def littleEndian(at: Int): Int =
    (bytes(at) & 0xff) | (bytes(at + 1) & 0xff) << 8 | (bytes(at + 2) & 0xff) << 16 | (bytes(at + 3) & 0xff) << 24

  def string(): UTF8String = {
    val length = this.length()
    UTF8String.fromBytes(bytes, take(length), length)
  }

  def binary(): Array[Byte] = fixed(length())

  def fixed(length: Int): Array[Byte] = {
    val at = take(length)
    Arrays.copyOfRange(bytes, at, at + length)
  }

  /** Reads a two's complement number of at most 8 bytes. */
  def unscaled(length: Int): Long = {
    val at    = take(length)
    var value = if (length == 0) 0L else bytes(at).toLong
    var i     = 1
    while (i < length) {
      value = (value << 8) | (bytes(at + i) & 0xff)
      i += 1
    }
    value
  }

  /** Index of an enum symbol or a union branch out of `count`. */
  def index(count: Int): Int = {
    val i = int()
    if (i < 0 || i >= count) throw new MalformedValue(s"index $i is outside of 0 to ${count - 1}")
    i
  }

  def length(): Int = {
    val l = long()
    if (l < 0 || l > remaining) throw tooShort(l)
    l.toInt
  }

  /** Number of items in the next block of an array or a map, 0 after the last. All items of a value that take at least
    * one byte cannot be more than its bytes.
    */
  def blockCount(): Int = {
    val l = long()
    if (l < 0) { long(); believed(-l) }
    else believed(l)
  }

  private def believed(count: Long): Int = {
    if (count < 0 || count > itemsLeft) throw new MalformedValue(s"a block of $count items is longer than the value")
    itemsLeft -= count.toInt
    count.toInt
  }

  /** Like [[blockCount]], but skips blocks whose length in bytes is known. */
  def skippedBlockCount(): Int = {
    var l = long()
    while (l < 0) {
      skip(long())
      l = long()
    }
    believed(l)
  }

  def skip(length: Long): Unit = {
    if (length < 0 || length > remaining) throw tooShort(length)
    pos += length.toInt
  }

  def skipNumber(): Unit = {
    val limit = math.min(end, pos + AvroInput.MaxNumberLength)
    var at    = pos
    while (at < limit && bytes(at) < 0) at += 1
    if (at == limit) {
      if (at - pos == AvroInput.MaxNumberLength) throw tooLong()
      pos = at
      throw tooShort(1)
    }
    pos = at + 1
  }

  /** One level deeper, until [[leave]]; recursive values are skipped, and must not exhaust the stack. */
  def enter(): Unit = {
    depth += 1
    if (depth > AvroInput.MaxDepth)
      throw new MalformedValue(s"the value is nested more than ${AvroInput.MaxDepth} levels deep")
  }

  def leave(): Unit = depth -= 1

  private def take(length: Int): Int = {
    if (length > end - pos) throw tooShort(length.toLong)
    val at = pos
    pos += length
    at
  }

  private def tooLong() = new MalformedValue(s"a number is longer than ${AvroInput.MaxNumberLength} bytes")

  private def tooShort(length: Long) =
    new MalformedValue(s"$length bytes are needed where the value has $remaining left")
}

private[schema] object AvroInput {

  /** Items that take no bytes (nulls, empty records) are believed up to this count in a value. */
  private val MaxEmptyItems   = 1 << 16
  private val MaxDepth        = 500
  private val MaxNumberLength = 10
}
