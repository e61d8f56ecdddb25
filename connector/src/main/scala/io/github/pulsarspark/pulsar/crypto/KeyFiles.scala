package io.github.pulsarspark.pulsar.crypto

import java.net.URI
import java.nio.file.Path
import java.util.{Map => JMap}

import org.apache.pulsar.client.api.{CryptoKeyReader, EncryptionKeyInfo}

import io.github.pulsarspark.options.{NamedFile, PrivateKeys}

/** Private keys from PEM files on this machine, read when a key is requested. Pulsar's `DefaultCryptoKeyReader` takes
  * URLs alone and only logs which file is missing; here the error of the query names it.
  */
private[pulsar] final class KeyFiles(files: PrivateKeys.Files) extends CryptoKeyReader {

  private var problems = Map.empty[String, String]

  /** Reasons for missing keys that were requested. */
  def failures: Seq[String] = problems.values.toSeq.sorted

  override def getPrivateKey(name: String, metadata: JMap[String, String]): EncryptionKeyInfo = {
    val info = new EncryptionKeyInfo // without a key, which the caller takes for none
    files.byName.get(name).orElse(files.others) match {
      case None       => problems += name -> s"no file is given for `$name`"
      case Some(file) =>
        KeyFiles.bytes(PrivateKeys.FileKey, file).fold(p => problems += name -> s"the file $file $p", info.setKey)
    }
    info
  }

  override def getPublicKey(name: String, metadata: JMap[String, String]): EncryptionKeyInfo = new EncryptionKeyInfo
}

private object KeyFiles {

  /** The content of a file, or why there is none.
    *
    * @param file
    *   a path or a URL of one
    */
  def bytes(option: String, file: String): Either[String, Array[Byte]] = NamedFile.bytes(option, pathOf(file))

  def pathOf(file: String): Path = if (file.startsWith("file:")) Path.of(URI.create(file)) else Path.of(file)
}
