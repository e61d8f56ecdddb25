package io.github.pulsarspark.errors

/** Error of the connector in a read or a write. */
final class PulsarException private[errors] (
    kind: Condition,
    message: String,
    override val parameters: Map[String, String],
    cause: Option[Throwable]
) extends RuntimeException(message, cause.orNull)
    with PulsarError {
  override val condition: String   = kind.name
  override val getSqlState: String = kind.sqlState
}
