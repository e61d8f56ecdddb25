package io.github.pulsarspark.pulsar.crypto

import java.util.{Map => JMap}

import scala.util.control.NonFatal

import org.apache.pulsar.client.api.{CryptoKeyReader, EncryptionKeyInfo}
import org.apache.pulsar.client.impl.crypto.MessageCryptoBc

import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.options.PublicKeys
import io.github.pulsarspark.policy.PluginClass

/** Public keys that the client encrypts for. They are read once: the client requests them again every four hours, and
  * no client can decrypt what it sends after a failed request.
  */
private[pulsar] final class PublicKeyReader private (keys: Map[String, EncryptionKeyInfo]) extends CryptoKeyReader {

  override def getPublicKey(name: String, metadata: JMap[String, String]): EncryptionKeyInfo = keys(name)

  override def getPrivateKey(name: String, metadata: JMap[String, String]): EncryptionKeyInfo = new EncryptionKeyInfo
}

private[pulsar] object PublicKeyReader {

  /** Fails with `PULSAR_ENCRYPTION_KEY` for a public key that cannot be read. */
  def apply(topic: String, keys: PublicKeys): PublicKeyReader = {
    val source = keys match {
      case PublicKeys.Files(files) => (name: String) =>
          val read = KeyFiles.bytes(PublicKeys.FileKey, files(name)).map(new EncryptionKeyInfo(_, JMap.of()))
          (s"the file ${files(name)}", read)
      case PublicKeys.ReaderClass(className, _) =>
        val reader = PluginClass.create("encryption.keyReader", className, classOf[CryptoKeyReader])
        (name: String) => (s"the key reader $className", requested(reader, name))
    }
    new PublicKeyReader(keys.names.map { name =>
      val (from, read) = source(name)
      name -> read.filterOrElse(isPublicKey, "holds no public key in PEM").fold(
        problem =>
          throw Conditions.EncryptionKey(topic = topic, key = name, source = from, problem = problem).exception,
        identity
      )
    }.toMap)
  }

  /** The text of a failure may hold a key. */
  private def requested(reader: CryptoKeyReader, name: String): Either[String, EncryptionKeyInfo] =
    try Option(reader.getPublicKey(name, JMap.of())).filter(_.getKey != null).toRight("has no such key")
    catch { case NonFatal(e) => Left(s"failed with ${e.getClass.getSimpleName}") }

  private def isPublicKey(key: EncryptionKeyInfo) =
    try { MessageCryptoBc.loadPublicKey(key.getKey); true }
    catch { case NonFatal(_) => false }
}
