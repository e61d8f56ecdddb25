package io.github.pulsarspark.schema.convert

/** A column does not fit the schema it is written with. Always becomes `PULSAR_WRITE_COLUMN_MISMATCH`. */
private[schema] final class ColumnMismatch(val column: String, val reason: String)
    extends RuntimeException(s"$column: $reason")
