package io.github.pulsarspark.pulsar.crypto

import java.nio.file.Files
import java.util.{Map => JMap}

import scala.util.Using
import scala.util.control.NonFatal

import org.apache.pulsar.client.api.{CryptoKeyReader, EncryptionKeyInfo}
import org.apache.pulsar.client.impl.crypto.MessageCryptoBc

import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.options.PublicKeys

/** Public keys from PEM files on this machine, which the client encrypts for. They are read once: the client requests
  * them again every four hours, and what it sends after a request that fails cannot be decrypted by anybody.
  */
private[pulsar] final class PublicKeyFiles private (keys: Map[String, Array[Byte]]) extends CryptoKeyReader {

  override def getPublicKey(name: String, metadata: JMap[String, String]): EncryptionKeyInfo =
    new EncryptionKeyInfo(keys(name), metadata)

  override def getPrivateKey(name: String, metadata: JMap[String, String]): EncryptionKeyInfo = new EncryptionKeyInfo
}

private[pulsar] object PublicKeyFiles {

  /** Fails with `PULSAR_ENCRYPTION_KEY` for a file that cannot be read or holds no public key. */
  def apply(topic: String, keys: PublicKeys): PublicKeyFiles =
    new PublicKeyFiles(keys.files.map { case (name, file) =>
      def refused(problem: String) =
        Conditions.EncryptionKey(topic = topic, key = name, file = file, problem = problem).exception
      name -> key(file, refused)
    })

  private def key(file: String, refused: String => Throwable): Array[Byte] = {
    val path = KeyFiles.pathOf(file)
    if (!Files.isRegularFile(path)) throw refused("is no file")
    val bytes =
      try Using.resource(Files.newInputStream(path))(_.readNBytes(KeyFiles.MostBytes + 1))
      catch { case NonFatal(e) => throw refused(s"cannot be read (${e.getClass.getSimpleName})") }
    if (bytes.length > KeyFiles.MostBytes) throw refused(s"has more than ${KeyFiles.MostBytes} bytes")
    try MessageCryptoBc.loadPublicKey(bytes)
    catch { case NonFatal(_) => throw refused("holds no public key in PEM") }
    bytes
  }
}
