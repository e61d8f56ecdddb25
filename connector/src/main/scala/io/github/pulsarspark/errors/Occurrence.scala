package io.github.pulsarspark.errors

import scala.util.matching.Regex

/** A condition that was met, with the values for its texts. */
private[pulsarspark] final case class Occurrence(condition: Condition, parameters: Map[String, String]) {

  def exception: RuntimeException with PulsarError = exception(None)

  def causedBy(cause: Throwable): RuntimeException with PulsarError = exception(Some(cause))

  /** Text of what is wrong. */
  def message: String = fill(condition.message)

  /** Text of what to do. */
  def action: String = fill(condition.action)

  /** `[CONDITION] message What to do: action` */
  private[errors] def text: String = s"[${condition.name}] $message What to do: $action"

  private def fill(template: String): String =
    Occurrence.placeholder.replaceAllIn(template, m => Regex.quoteReplacement(parameters(m.group(1))))

  private def exception(cause: Option[Throwable]): RuntimeException with PulsarError =
    if (condition.kind == "input") new PulsarInputException(condition, text, parameters, cause)
    else new PulsarException(condition, text, parameters, cause)
}

private[pulsarspark] object Occurrence {

  /** The occurrence that an error reports. */
  def of(error: PulsarError): Occurrence =
    Occurrence(Conditions.all.find(_.name == error.condition).get, error.parameters)

  private val placeholder = "\\{(\\w+)\\}".r
}
