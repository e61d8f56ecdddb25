package io.github.pulsarspark.options

import io.github.pulsarspark.options.registry.CheckedOptions

/** Source of the private keys with which tasks decrypt messages. */
private[pulsarspark] sealed trait PrivateKeys extends Serializable

private[pulsarspark] object PrivateKeys {

  /** @param byName
    *   files of some keys by the names that producers use
    * @param others
    *   the file for all other keys
    */
  final case class Files(byName: Map[String, String], others: Option[String]) extends PrivateKeys

  /** A `CryptoKeyReader` of the Pulsar client by its class name. */
  final case class ReaderClass(name: String) extends PrivateKeys

  /** The option that names the files. */
  val FileKey: String = "encryption.privateKeyFile"

  private[options] def apply(options: CheckedOptions): Option[PrivateKeys] =
    options.get(FileKey).map(files).orElse(
      options.clientSettings("pulsar.reader.").get("cryptoKeyReader").map(ReaderClass(_))
    )

  private def files(text: String): Files =
    if (!text.startsWith("{")) Files(Map.empty, Some(text))
    else
      Files(
        KeyFileNames.parse(FileKey, text, """a file, or JSON with a file for each key: {"key": "/path/key.pem"}"""),
        None
      )
}
