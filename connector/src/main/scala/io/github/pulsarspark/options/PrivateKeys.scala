package io.github.pulsarspark.options

import scala.jdk.CollectionConverters._
import scala.util.Try

import com.fasterxml.jackson.databind.ObjectMapper

import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.options.registry.CheckedOptions

/** Where tasks load the private keys from that decrypt messages. */
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

  private val FileKey = "encryption.privateKeyFile"

  private[options] def apply(options: CheckedOptions): Option[PrivateKeys] =
    options.get(FileKey).map(files).orElse(
      options.clientSettings("pulsar.reader.").get("cryptoKeyReader").map(ReaderClass(_))
    )

  private def files(text: String): Files =
    if (!text.startsWith("{")) Files(Map.empty, Some(text))
    else {
      val named = Try(
        new ObjectMapper().readTree(text).properties().asScala.map(p => p.getKey -> p.getValue)
      ).toOption.filter(p =>
        p.nonEmpty && p.forall(_._2.isTextual)
      )
      val byName = named.getOrElse(throw Conditions.OptionInvalid(option = FileKey, value = text,
        allowed = """a file, or JSON with a file for each key: {"key": "/path/key.pem"}""").exception)
      Files(byName.map { case (name, file) => name -> file.asText }.toMap, None)
    }
}
