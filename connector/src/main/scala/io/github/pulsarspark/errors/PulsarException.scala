package io.github.pulsarspark.errors

/** Something went wrong while reading or writing. */
final class PulsarException(
    val condition: String,
    message: String,
    val parameters: Map[String, String],
    cause: Option[Throwable]
) extends RuntimeException(message, cause.orNull)
    with PulsarError
