package io.github.pulsarspark.pulsar.producer

import java.nio.charset.StandardCharsets.UTF_8
import java.util.Base64

import org.apache.pulsar.client.api.HashingScheme
import org.apache.pulsar.client.impl.Murmur3Hash32

import io.github.pulsarspark.schema.columns.OutgoingMessage

/** Keys as messages carry them: texts in UTF-8, bytes in base64. Pure. */
private[producer] object MessageKey {

  /** Null for a message without a key. */
  def of(message: OutgoingMessage): Array[Byte] =
    if (message.key != null && message.keyIsBytes) Base64.getEncoder.encode(message.key) else message.key

  /** Hash of the key, not negative, as the Java client computes it. */
  def hash(key: Array[Byte], scheme: HashingScheme): Int = scheme match {
    case HashingScheme.JavaStringHash => javaHash(key) & Int.MaxValue
    case _                            => Murmur3Hash32.getInstance.makeHash(key)
  }

  /** `String.hashCode`, without the text where each byte is a character. */
  private def javaHash(key: Array[Byte]): Int = {
    var hash = 0
    var i    = 0
    while (i < key.length && key(i) >= 0) {
      hash = 31 * hash + key(i)
      i += 1
    }
    if (i == key.length) hash else new String(key, UTF_8).hashCode
  }
}
