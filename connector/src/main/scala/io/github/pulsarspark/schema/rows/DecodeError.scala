package io.github.pulsarspark.schema.rows

import io.github.pulsarspark.errors.PulsarError

/** Matches the errors about the value of one message, not those that any other message would raise, too. */
private[pulsarspark] object DecodeError {
  private val conditions = Set("PULSAR_VALUE_NOT_DECODABLE", "PULSAR_SCHEMA_NOT_RESOLVABLE")

  def unapply(error: Throwable): Option[Throwable with PulsarError] = error match {
    case e: PulsarError if conditions(e.condition) => Some(e)
    case _                                         => None
  }
}
