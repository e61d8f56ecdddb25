package io.github.pulsarspark.schema.convert

/** The bytes of a value do not match its schema. Always becomes the cause of `PULSAR_VALUE_NOT_DECODABLE`, which names
  * the message.
  */
private[schema] final class MalformedValue(message: String) extends RuntimeException(message)

/** A message has a time that no timestamp can hold. Always becomes `PULSAR_TIME_OUT_OF_RANGE`. */
private[schema] final class TimeOutOfRange(val millis: Long) extends RuntimeException(s"$millis ms since 1970")

/** The schema a value was written with cannot be resolved to the schema that the query reads. Always becomes
  * `PULSAR_SCHEMA_NOT_RESOLVABLE`.
  */
private[schema] final class UnresolvableSchema(message: String) extends RuntimeException(message)
