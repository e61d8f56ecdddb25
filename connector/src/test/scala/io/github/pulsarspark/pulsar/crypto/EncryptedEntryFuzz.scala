package io.github.pulsarspark.pulsar.crypto

import io.netty.buffer.{ByteBufUtil, Unpooled}
import org.apache.pulsar.client.impl.crypto.MessageCryptoBc

import io.github.pulsarspark.format.{DecodeDepth, Digest, EntryDecoder, Sent, StoredEntry}
import io.github.pulsarspark.fuzz.FuzzTarget
import io.github.pulsarspark.options.PrivateKeys

/** Encrypted entries, for a task that has a private key. */
object EncryptedEntryFuzz extends FuzzTarget {
  private val limit  = 1 << 16
  private val crypto = new MessageCryptoBc("fuzz", true)
  private val keys   = PrivateKeys.ReaderClass(classOf[MessageDecryptorSuite.TestKeys].getName)

  override def allowance: Long = 64L * limit

  override def seeds: Seq[Array[Byte]] = for (names <- Seq(Seq("a"), Seq("a", "b"))) yield {
    val entry = StoredEntry(Seq(Sent.text("one"), Sent.text("two")), batched = true, checksum = false).bytes
    ByteBufUtil.getBytes(MessageDecryptorSuite.encrypted(entry, crypto, names: _*))
  }

  override def decode(bytes: Array[Byte]): Any = {
    val decoder = new EntryDecoder("t", DecodeDepth.Message, limit, decryptor = new MessageDecryptor("t", keys))
    Digest.of(decoder, Unpooled.wrappedBuffer(bytes))
  }
}
