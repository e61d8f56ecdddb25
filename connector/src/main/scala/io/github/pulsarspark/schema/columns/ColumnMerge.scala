package io.github.pulsarspark.schema.columns

import org.apache.spark.sql.types._

/** Merges the columns of two schemas into those of one table: a column of only one schema is null in the rows of the
  * other. Pure.
  */
private[pulsarspark] object ColumnMerge {

  /** The first field that has two types. */
  final case class Difference(path: String, one: DataType, other: DataType)

  def apply(one: StructType, other: StructType): Either[Difference, StructType] = structs(one, other, "")

  private def structs(one: StructType, other: StructType, path: String): Either[Difference, StructType] = {
    val ofOther = other.fields.map(f => f.name -> f).toMap
    val names   = one.fieldNames.toSet
    val merged  = one.fields.toSeq.map { f =>
      ofOther.get(f.name).fold[Either[Difference, StructField]](Right(f.copy(nullable = true))) { g =>
        merge(f.dataType, g.dataType, if (path.isEmpty) f.name else s"$path.${f.name}")
          .map(t => f.copy(dataType = t, nullable = f.nullable || g.nullable))
      }
    }
    val added = other.fields.toSeq.filterNot(f => names(f.name)).map(_.copy(nullable = true))
    merged.collectFirst { case Left(difference) => difference }.toLeft(StructType(merged.flatMap(_.toOption) ++ added))
  }

  private def merge(one: DataType, other: DataType, path: String): Either[Difference, DataType] = (one, other) match {
    case (a: StructType, b: StructType)                 => structs(a, b, path)
    case (ArrayType(a, n), ArrayType(b, m))             => merge(a, b, s"$path[]").map(ArrayType(_, n || m))
    case (MapType(k, a, n), MapType(l, b, m)) if k == l => merge(a, b, s"$path{}").map(MapType(k, _, n || m))
    case _                                              => Either.cond(one == other, one, Difference(path, one, other))
  }
}
