package io.github.pulsarspark.errors

/** The user's input is wrong. An `IllegalArgumentException`, so that PySpark shows it as one. */
final class PulsarInputException private[errors] (
    kind: Condition,
    message: String,
    override val parameters: Map[String, String],
    cause: Option[Throwable]
) extends IllegalArgumentException(message, cause.orNull)
    with PulsarError {
  override val condition: String   = kind.name
  override val getSqlState: String = kind.sqlState
}
