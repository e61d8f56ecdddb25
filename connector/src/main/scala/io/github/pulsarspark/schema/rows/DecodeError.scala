package io.github.pulsarspark.schema.rows

import io.github.pulsarspark.errors.{Conditions, PulsarError}

/** Matches the errors about the value or a time of one message, not those that any other message would raise, too. */
private[pulsarspark] object DecodeError {
  private val conditions = Seq(Conditions.ValueNotDecodable, Conditions.SchemaNotResolvable,
    Conditions.SchemaVersionMissing, Conditions.TimeOutOfRange)

  def unapply(error: Throwable): Option[Throwable with PulsarError] = error match {
    case e: PulsarError if conditions.exists(_.is(e)) => Some(e)
    case _                                            => None
  }
}
