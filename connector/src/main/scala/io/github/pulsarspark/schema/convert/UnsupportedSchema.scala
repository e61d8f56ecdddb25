package io.github.pulsarspark.schema.convert

/** A schema has no Spark type: the reason and the field. Always becomes `PULSAR_SCHEMA_NOT_READABLE` or
  * `PULSAR_PROTOBUF_DESCRIPTOR`.
  */
private[schema] final class UnsupportedSchema(path: String, reason: String)
    extends RuntimeException(if (path.isEmpty) reason else s"field `$path`: $reason")
