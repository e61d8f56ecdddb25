package io.github.pulsarspark.schema.columns

import org.apache.spark.sql.types.{MetadataBuilder, StructField}

/** Fields of values that are named like a metadata column. The field wins, as Spark's rule for hidden columns is, so
  * the column carries a mark, which Spark keeps with it. Pure.
  */
private[pulsarspark] object FieldNames {

  private val Mark = "pulsar.isField"

  /** The column of a field of values. */
  def marked(field: StructField): StructField =
    if (!MetadataColumns.all.exists(_.name.equalsIgnoreCase(field.name))) field
    else field.copy(metadata = new MetadataBuilder().withMetadata(field.metadata).putBoolean(Mark, true).build())

  def isMarked(column: StructField): Boolean = column.metadata.contains(Mark)
}
