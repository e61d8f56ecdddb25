package io.github.pulsarspark.pulsar.connection

import java.net.URI
import java.nio.file.Path

import scala.jdk.CollectionConverters._
import scala.util.Try

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}

import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.options.NamedFile
import io.github.pulsarspark.options.registry.Secret
import io.github.pulsarspark.policy.AllowedSecrets

/** Files that credentials name inside of their text. The client's plug-ins read such a file to its end, whatever it is.
  * Where a server has a policy, it decides what else credentials may refer to.
  */
private[connection] object CredentialFiles {

  private val Url = "file:"

  /** Parameters of the client's own plug-ins that are paths, in lower case. */
  private val Paths = Set("tlscertfile", "tlskeyfile", "keystorepath")

  /** Fails with the name of the option when a file cannot be read. Does not show its name: a token that was given as a
    * file would be shown.
    */
  def check(option: String, credentials: Secret): Unit = {
    values(credentials.reveal.trim).foreach { case (name, value) =>
      AllowedSecrets.checkParameter(option, value, isPath(name))
    }
    in(credentials.reveal).foreach(file =>
      NamedFile.hiddenProblem(option, file).foreach(problem =>
        throw Conditions.FileUnreadable(option = option, file = Secret.Mask, problem = problem).exception
      )
    )
  }

  private def isPath(name: String) = Paths(name.toLowerCase)

  private[connection] def in(text: String): Seq[Path] = values(text.trim).flatMap {
    case (_, value) if value.startsWith(Url) => path(value)
    case (name, value) if isPath(name)       => Try(Path.of(value)).toOption
    case _                                   => None
  }

  /** Parameters as the plug-ins take them: JSON, `name:value,name:value`, or one value without a name. */
  private def values(text: String): Seq[(String, String)] =
    if (text.startsWith("{")) Try(leaves("", new ObjectMapper().readTree(text))).getOrElse(Seq("" -> text))
    else ("" -> text) +: text.split(',').toSeq.map(_.split(":", 2)).collect { case Array(name, value) =>
      name.trim -> value.trim
    }

  private def leaves(name: String, node: JsonNode): Seq[(String, String)] =
    if (node.isObject) node.properties.asScala.toSeq.flatMap(p => leaves(p.getKey, p.getValue))
    else if (node.isArray) node.elements.asScala.toSeq.flatMap(leaves(name, _))
    else Seq(name -> node.asText)

  private def path(url: String): Option[Path] = Try(Path.of(Option(URI.create(url).getPath).getOrElse(
    url.stripPrefix(Url)
  ))).toOption
}
