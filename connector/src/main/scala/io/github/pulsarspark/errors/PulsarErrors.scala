package io.github.pulsarspark.errors

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.ObjectMapper

/** Builds every exception the connector raises from `error-conditions.json`, the one list of conditions that the JVM,
  * the Python package and the documentation share. A template that names a parameter which is not given, or a condition
  * that is not listed, is a bug and fails loudly.
  */
object PulsarErrors {

  /** @param kind
    *   `input`: the user gave something wrong; found before a task runs. `runtime`: everything else.
    */
  private[pulsarspark] final case class Condition(name: String, kind: String, message: String, action: String)

  private val resource = "/io/github/pulsarspark/error-conditions.json"

  private[pulsarspark] lazy val conditions: Map[String, Condition] = {
    val in = getClass.getResourceAsStream(resource)
    try
      new ObjectMapper()
        .readTree(in)
        .properties()
        .asScala
        .map { e =>
          val node = e.getValue
          e.getKey ->
            Condition(e.getKey, node.get("kind").asText, node.get("message").asText, node.get("action").asText)
        }
        .toMap
    finally in.close()
  }

  private val placeholder = "\\{([a-zA-Z]+)\\}".r

  /** The exception for `condition`, its text being `[CONDITION] message What to do: action`. */
  def apply(condition: String, parameters: (String, String)*): RuntimeException with PulsarError =
    caused(condition, None, parameters: _*)

  def caused(condition: String, cause: Throwable, parameters: (String, String)*): RuntimeException with PulsarError =
    caused(condition, Some(cause), parameters: _*)

  /** The text alone, as the exception would carry it. */
  private[pulsarspark] def text(condition: String, parameters: (String, String)*): String = {
    val c      = conditions.getOrElse(condition, sys.error(s"unlisted error condition $condition"))
    val values = parameters.toMap
    def fill(template: String): String = placeholder.replaceAllIn(
      template,
      m =>
        scala.util.matching.Regex.quoteReplacement(
          values.getOrElse(m.group(1), sys.error(s"error condition $condition needs parameter ${m.group(1)}"))
        )
    )
    s"[$condition] ${fill(c.message)} What to do: ${fill(c.action)}"
  }

  private def caused(
      condition: String,
      cause: Option[Throwable],
      parameters: (String, String)*
  ): RuntimeException with PulsarError = {
    val message = text(condition, parameters: _*)
    if (conditions(condition).kind == "input") new PulsarInputException(condition, message, parameters.toMap, cause)
    else new PulsarException(condition, message, parameters.toMap, cause)
  }
}
