package io.github.pulsarspark.schema.columns

import org.apache.spark.sql.types._

/** Walk through the types of columns. Pure. */
private[pulsarspark] object NestedTypes {

  /** A type and all types in it, outer ones first, each with the path of its fields: empty, or the names of the fields
    * around them with a dot behind each.
    */
  def in(dataType: DataType, path: String = ""): Iterator[(String, DataType)] =
    Iterator(path -> dataType) ++
      (dataType match {
        case StructType(fields)     => fields.iterator.flatMap(f => in(f.dataType, s"$path${f.name}."))
        case ArrayType(item, _)     => in(item, path)
        case MapType(key, value, _) => in(key, path) ++ in(value, path)
        case _                      => Iterator.empty
      })
}
