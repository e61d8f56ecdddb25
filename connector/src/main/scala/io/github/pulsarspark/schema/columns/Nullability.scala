package io.github.pulsarspark.schema.columns

import org.apache.spark.sql.types._

/** Makes the columns of a read nullable. Spark must not assume that a column holds no null: any message can be a
  * tombstone, lack a field, or fail to decode. Spark's generated code reads a column that is not nullable without
  * checking its null flag, and then returns the value of the previous row. Pure.
  */
private[pulsarspark] object Nullability {

  /** Makes every column nullable, and every field, element and map value within. */
  def relaxed(columns: StructType): StructType =
    StructType(columns.fields.map(f => f.copy(dataType = relaxed(f.dataType), nullable = true)))

  /** The type whose parts may all be null. */
  def relaxed(dataType: DataType): DataType = dataType match {
    case columns: StructType    => relaxed(columns)
    case ArrayType(item, _)     => ArrayType(relaxed(item), containsNull = true)
    case MapType(key, value, _) => MapType(relaxed(key), relaxed(value), valueContainsNull = true)
    case other                  => other
  }
}
