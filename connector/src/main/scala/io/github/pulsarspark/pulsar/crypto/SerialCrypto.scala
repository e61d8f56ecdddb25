package io.github.pulsarspark.pulsar.crypto

import java.nio.ByteBuffer
import java.util.function.Supplier
import java.util.{Set => JSet}

import org.apache.pulsar.client.api.{CryptoKeyReader, MessageCrypto}
import org.apache.pulsar.client.impl.crypto.MessageCryptoBc
import org.apache.pulsar.common.api.proto.MessageMetadata

/** Serializes the client's encryption, one call at a time. The client renews the data key every four hours, on another
  * thread than it encrypts on. A message that is encrypted at that moment may carry the new data key although the old
  * one encrypted it, and then no client can decrypt it.
  */
private[pulsar] final class SerialCrypto(topic: String) extends MessageCrypto[MessageMetadata, MessageMetadata] {
  private val crypto = new MessageCryptoBc(s"[$topic]", true)

  override def addPublicKeyCipher(names: JSet[String], keys: CryptoKeyReader): Unit =
    synchronized(crypto.addPublicKeyCipher(names, keys))

  override def removeKeyCipher(name: String): Boolean = synchronized(crypto.removeKeyCipher(name))

  override def getMaxOutputSize(length: Int): Int = synchronized(crypto.getMaxOutputSize(length))

  override def encrypt(
      names: JSet[String],
      keys: CryptoKeyReader,
      metadata: Supplier[MessageMetadata],
      from: ByteBuffer,
      to: ByteBuffer
  ): Unit = synchronized(crypto.encrypt(names, keys, metadata, from, to))

  override def decrypt(
      metadata: Supplier[MessageMetadata],
      from: ByteBuffer,
      to: ByteBuffer,
      keys: CryptoKeyReader
  ): Boolean = synchronized(crypto.decrypt(metadata, from, to, keys))
}
