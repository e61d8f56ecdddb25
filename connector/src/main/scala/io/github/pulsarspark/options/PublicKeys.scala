package io.github.pulsarspark.options

import scala.jdk.CollectionConverters._
import scala.util.Try

import com.fasterxml.jackson.databind.ObjectMapper

import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.options.registry.{CheckedOptions, OptionValue}

/** Files of encryption keys by the names of the keys, as options give them in JSON. */
private[options] object KeyFileNames {

  /** @param text
    *   a JSON object with at least one file
    */
  def parse(option: String, text: String, allowed: String): Map[String, String] =
    Try(new ObjectMapper().readTree(text).properties().asScala.map(p => p.getKey -> p.getValue)).toOption
      .filter(p => p.nonEmpty && p.forall(_._2.isTextual))
      .getOrElse(throw Conditions.OptionInvalid(option = option, value = text, allowed = allowed).exception)
      .map { case (name, file) => name -> file.asText }
      .toMap
}

/** The public keys that a write encrypts for, by their names. */
private[pulsarspark] sealed trait PublicKeys extends Serializable { def names: Set[String] }

private[pulsarspark] object PublicKeys {

  /** Files on every machine, by the names of the keys. */
  final case class Files(byName: Map[String, String]) extends PublicKeys { def names: Set[String] = byName.keySet }

  /** A `CryptoKeyReader` of the Pulsar client by its class name. */
  final case class ReaderClass(name: String, names: Set[String]) extends PublicKeys

  /** The option that names the files. */
  val FileKey: String = "encryption.publicKeyFile"

  private val ReaderKey = "encryption.keyReader"

  /** Reads the options; None for messages without encryption. */
  private[options] def apply(options: CheckedOptions): Option[PublicKeys] = options.get(FileKey).map(text =>
    Files(KeyFileNames.parse(FileKey, text, """JSON with a file for each key: {"key": "/path/key.pub.pem"}"""))
  ).orElse(options.get(ReaderKey).map(ReaderClass(_, OptionValue.topics(options("encryption.keyNames")).toSet)))
}
