package io.github.pulsarspark.schema.columns

import org.apache.spark.sql.types.{BinaryType, StringType, StructField}

/** Columns with the reason why the value of a message is missing, shown on request. */
private[pulsarspark] object ErrorColumns {
  val Error: StructField   = StructField("_error", StringType)
  val Corrupt: StructField = StructField("_corrupt", BinaryType)

  val all: Seq[StructField] = Seq(Error, Corrupt)
}
