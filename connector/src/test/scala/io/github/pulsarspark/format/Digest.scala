package io.github.pulsarspark.format

import java.util.Arrays

import io.netty.buffer.ByteBuf

import io.github.pulsarspark.format.entry.MessageView

/** Result of decoding an entry, as two numbers: a copy of each message would take more memory than the decoder. */
private[pulsarspark] object Digest {

  /** The number of messages, and a hash of all they have. */
  def of(decoder: EntryDecoder, entry: ByteBuf, lastIndex: Int = Int.MaxValue): (Int, Int) = {
    decoder.open(3, 5, entry, -1, lastIndex)
    var count, hash = 0
    while (decoder.next()) {
      count += 1
      hash = 31 * hash + of(decoder.message)
    }
    (count, hash)
  }

  private def of(m: MessageView): Int = {
    var hash = bytes(m.bytes, m.valueOffset, if (m.valueIsNull) 0 else m.valueLength)
    if (m.keyLength >= 0) hash = 31 * hash + bytes(m.keyBytes, m.keyOffset, m.keyLength)
    for (i <- 0 until 2 * m.propertyCount)
      hash = 31 * hash + bytes(m.propertyBytes, m.propertyRanges(2 * i), m.propertyRanges(2 * i + 1))
    hash = 31 * hash + (m.eventTime + m.sequenceId + m.publishTime + m.index + m.batchIndex).toInt
    hash = 31 * hash + Arrays.hashCode(m.orderingKey)
    31 * hash + m.producerName.length + m.schemaVersion.length
  }

  /** Fails for a range that is not inside its array. */
  private def bytes(array: Array[Byte], from: Int, length: Int): Int = {
    var (hash, i) = (length, from)
    while (i < from + length) {
      hash = 31 * hash + array(i)
      i += 1
    }
    hash
  }
}
