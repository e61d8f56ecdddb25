package io.github.pulsarspark.pulsar.producer

import java.nio.charset.StandardCharsets.UTF_8
import java.util.Arrays

import io.github.pulsarspark.schema.columns.OutgoingMessage

/** Encoded metadata of a message in a batch after its length, like the client's `SingleMessageMetadata`. One object and
  * one array serve all messages. Not thread-safe.
  */
private[producer] final class BatchedMetadata {
  import BatchedMetadata._

  private var bytes = new Array[Byte](512)
  private var end   = 0

  /** Encoded metadata up to [[length]], valid until the next message. */
  def array: Array[Byte] = bytes
  def length: Int        = end

  /** @param key
    *   as messages carry it, null for none
    */
  def set(message: OutgoingMessage, key: Array[Byte], sequenceId: Long): Unit = {
    end = LengthBytes
    if (message.properties != null) message.properties.forEach((name, value) => property(name, value))
    if (key != null) field(PartitionKey, key)
    field(PayloadSize, message.payload.length.toLong)
    if (message.eventTime > 0) field(EventTime, message.eventTime)
    if (key != null && message.keyIsBytes) field(KeyIsBase64, 1L)
    if (message.orderingKey != null) field(OrderingKey, message.orderingKey)
    field(SequenceId, sequenceId)
    if (message.payload.array == null) field(NullValue, 1L)
    val size = end - LengthBytes
    bytes(0) = (size >> 24).toByte
    bytes(1) = (size >> 16).toByte
    bytes(2) = (size >> 8).toByte
    bytes(3) = size.toByte
  }

  private def property(name: String, value: String): Unit = {
    val (n, v) = (name.getBytes(UTF_8), value.getBytes(UTF_8))
    reserve(MaxNumberBytes)
    number(Properties.toLong)
    number(fieldSize(n).toLong + fieldSize(v))
    field(PropertyName, n)
    field(PropertyValue, v)
  }

  private def field(tag: Int, value: Array[Byte]): Unit = {
    reserve(value.length + MaxNumberBytes)
    number(tag.toLong)
    number(value.length.toLong)
    System.arraycopy(value, 0, bytes, end, value.length)
    end += value.length
  }

  private def field(tag: Int, value: Long): Unit = {
    reserve(MaxNumberBytes)
    number(tag.toLong)
    number(value)
  }

  private def fieldSize(value: Array[Byte]): Int = 1 + numberSize(value.length) + value.length

  private def numberSize(value: Int): Int = (38 - Integer.numberOfLeadingZeros(value | 1)) / 7

  /** Writes a varint: seven bits in each byte, the lowest ones first. */
  private def number(value: Long): Unit = {
    var rest = value
    while ((rest & ~0x7fL) != 0) {
      bytes(end) = (rest | 0x80).toByte
      end += 1
      rest >>>= 7
    }
    bytes(end) = rest.toByte
    end += 1
  }

  private def reserve(size: Int): Unit =
    if (bytes.length - end < size) bytes = Arrays.copyOf(bytes, Math.max(2 * bytes.length, end + size))
}

private object BatchedMetadata {
  private val LengthBytes = 4

  /** A tag of one byte and a number of at most ten. */
  private val MaxNumberBytes = 11

  // Tags of protobuf: number of the field, and 2 for bytes or 0 for a number.
  private val Properties    = 1 << 3 | 2
  private val PartitionKey  = 2 << 3 | 2
  private val PayloadSize   = 3 << 3
  private val EventTime     = 5 << 3
  private val KeyIsBase64   = 6 << 3
  private val OrderingKey   = 7 << 3 | 2
  private val SequenceId    = 8 << 3
  private val NullValue     = 9 << 3
  private val PropertyName  = 1 << 3 | 2
  private val PropertyValue = 2 << 3 | 2
}
