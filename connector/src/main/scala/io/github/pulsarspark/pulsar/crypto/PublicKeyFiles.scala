package io.github.pulsarspark.pulsar.crypto

import java.nio.charset.StandardCharsets.ISO_8859_1
import java.nio.file.Files
import java.util.{Map => JMap}

import scala.util.control.NonFatal

import org.apache.pulsar.client.api.{CryptoKeyReader, EncryptionKeyInfo}

import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.options.PublicKeys

/** Public keys from PEM files on this machine, which the client encrypts for. */
private[pulsar] final class PublicKeyFiles(topic: String, keys: PublicKeys) extends CryptoKeyReader {

  override def getPublicKey(name: String, metadata: JMap[String, String]): EncryptionKeyInfo =
    new EncryptionKeyInfo(read(name), metadata)

  override def getPrivateKey(name: String, metadata: JMap[String, String]): EncryptionKeyInfo = new EncryptionKeyInfo

  /** Fails for a key that is missing or is none, before the client is asked: it would report a key of its own text. */
  def check(): Unit = keys.files.keys.toSeq.sorted.foreach { name =>
    if (!new String(read(name), ISO_8859_1).contains("-----BEGIN"))
      throw refused(name, "holds no PEM")
  }

  private def read(name: String): Array[Byte] = {
    val file = KeyFiles.pathOf(keys.files(name))
    try
      if (!Files.isRegularFile(file)) throw refused(name, "is no file")
      else if (Files.size(file) > KeyFiles.MostBytes) throw refused(name, s"has more than ${KeyFiles.MostBytes} bytes")
      else Files.readAllBytes(file)
    catch {
      case e if Conditions.EncryptionKey.is(e) => throw e
      case NonFatal(e)                         => throw refused(name, s"cannot be read (${e.getClass.getSimpleName})")
    }
  }

  private def refused(name: String, problem: String) =
    Conditions.EncryptionKey(topic = topic, key = name, file = keys.files(name), problem = problem).exception
}
