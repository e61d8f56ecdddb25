package io.github.pulsarspark.errors

/** The user's input is wrong. An `IllegalArgumentException`, so that PySpark shows it as one. */
final class PulsarInputException(
    val condition: String,
    message: String,
    val parameters: Map[String, String],
    cause: Option[Throwable]
) extends IllegalArgumentException(message, cause.orNull)
    with PulsarError
