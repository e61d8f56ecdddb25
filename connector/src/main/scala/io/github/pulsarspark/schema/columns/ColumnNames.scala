package io.github.pulsarspark.schema.columns

import java.util.Locale

import org.apache.spark.sql.types._

import io.github.pulsarspark.errors.Conditions

/** Names of columns as Spark compares them. Pure. */
private[pulsarspark] object ColumnNames {

  /** Two columns of the same struct, with its path, that Spark takes for one name. */
  def alike(columns: StructType, isCaseSensitive: Boolean): Option[(String, String)] = in(columns, "", isCaseSensitive)

  /** Fails for columns of a read that Spark cannot distinguish: it would prune one of them to the type of the other. */
  def checkRead(source: String, columns: StructType, isCaseSensitive: Boolean): Unit =
    alike(columns, isCaseSensitive).foreach { case (one, other) =>
      throw Conditions.ReadColumnsAlike(one = one, other = other, source = source).exception
    }

  private def in(dataType: DataType, path: String, isCaseSensitive: Boolean): Option[(String, String)] =
    dataType match {
      case StructType(fields) =>
        def folded(name: String) = if (isCaseSensitive) name else name.toLowerCase(Locale.ROOT)
        val places               = fields.map(_.name).toSeq.groupBy(folded)
        fields.iterator.flatMap { f =>
          places(folded(f.name)) match {
            case Seq(one, other, _*) => Some((path + one, path + other))
            case _                   => in(f.dataType, s"$path${f.name}.", isCaseSensitive)
          }
        }.nextOption()
      case ArrayType(element, _)  => in(element, path, isCaseSensitive)
      case MapType(key, value, _) => in(key, path, isCaseSensitive).orElse(in(value, path, isCaseSensitive))
      case _                      => None
    }
}
