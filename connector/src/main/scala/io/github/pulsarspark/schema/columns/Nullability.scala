package io.github.pulsarspark.schema.columns

import org.apache.spark.sql.types._

/** Whether Spark may believe that a column of a read holds no null. It may not: any message can be a tombstone, lack a
  * field, or fail to decode. Spark's generated code reads a column that is not nullable without a look at its null
  * flag, and then returns the value of the row before. Pure.
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
