package io.github.pulsarspark.errors

/** Something went wrong while reading or writing. */
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
