package io.github.pulsarspark.pulsar.crypto

import java.nio.ByteBuffer
import java.util.Arrays

import scala.jdk.CollectionConverters._
import scala.util.control.NonFatal

import io.netty.buffer.{ByteBuf, Unpooled}
import org.apache.pulsar.client.api.CryptoKeyReader
import org.apache.pulsar.client.impl.crypto.MessageCryptoBc
import org.apache.pulsar.common.api.proto.MessageMetadata

import io.github.pulsarspark.format.entry.MalformedBytes
import io.github.pulsarspark.format.{PayloadDecryptor, Undecryptable}
import io.github.pulsarspark.options.PrivateKeys
import io.github.pulsarspark.policy.{AllowedFiles, PluginClass}

/** Decrypts with the Pulsar client's own code, which keeps the keys of messages that it has opened. Nothing is loaded
  * before there is something to decrypt.
  */
private[pulsarspark] final class MessageDecryptor(topic: String, keys: PrivateKeys) extends PayloadDecryptor {

  private lazy val crypto                  = new MessageCryptoBc(s"[$topic]", false)
  private lazy val reader: CryptoKeyReader = keys match {
    case files: PrivateKeys.Files      => MessageDecryptor.check(files); new KeyFiles(files)
    case PrivateKeys.ReaderClass(name) => PluginClass.create(MessageDecryptor.ReaderKey, name, classOf[CryptoKeyReader])
  }

  override def decrypt(metadata: Array[Byte], length: Int, payload: ByteBuf): Array[Byte] = {
    val parsed = new MessageMetadata
    try parsed.parseFrom(Unpooled.wrappedBuffer(metadata, 0, length), length)
    catch { case NonFatal(e) => throw new MalformedBytes(s"malformed metadata: ${e.getMessage}") }
    val target = ByteBuffer.allocate(crypto.getMaxOutputSize(payload.readableBytes))
    val source = reader
    val opened =
      try crypto.decrypt(() => parsed, payload.nioBuffer, target, source)
      catch { // its text may hold a key
        case NonFatal(e) =>
          throw new Undecryptable(s"${source.getClass.getName} failed with ${e.getClass.getSimpleName}")
      }
    if (!opened) throw new Undecryptable(reason(parsed))
    Arrays.copyOf(target.array, target.limit)
  }

  private def reason(metadata: MessageMetadata): String = {
    val names    = metadata.getEncryptionKeysList.asScala.map(k => s"`${k.getKey}`")
    val failures = reader match {
      case files: KeyFiles => files.failures.map("; " + _).mkString
      case _               => ""
    }
    s"no private key that was given fits its ${if (names.size == 1) "key" else "keys"} ${names.mkString(", ")}$failures"
  }
}

private[pulsarspark] object MessageDecryptor {
  private val ReaderKey = "pulsar.reader.cryptoKeyReader"

  /** Fails, before there is a message, for a class that reads no keys, and for what the policy of a server refuses. */
  def check(keys: PrivateKeys): Unit = keys match {
    case PrivateKeys.ReaderClass(name)     => PluginClass(ReaderKey, name, classOf[CryptoKeyReader]); ()
    case PrivateKeys.Files(byName, others) =>
      (byName.values ++ others).foreach(file => AllowedFiles.check(PrivateKeys.FileKey, KeyFiles.pathOf(file), file))
  }
}
