package io.github.pulsarspark.options

import scala.jdk.CollectionConverters._
import scala.util.Try

import com.fasterxml.jackson.databind.ObjectMapper

import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.options.registry.CheckedOptions

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

/** The public keys that a write encrypts for: files by the names of the keys, on every machine. */
private[pulsarspark] final case class PublicKeys(files: Map[String, String])

private[pulsarspark] object PublicKeys {
  private val FileKey = "encryption.publicKeyFile"

  /** None for plain messages. */
  private[options] def apply(options: CheckedOptions): Option[PublicKeys] = options.get(FileKey).map(text =>
    PublicKeys(KeyFileNames.parse(FileKey, text, """JSON with a file for each key: {"key": "/path/key.pub.pem"}"""))
  )
}
