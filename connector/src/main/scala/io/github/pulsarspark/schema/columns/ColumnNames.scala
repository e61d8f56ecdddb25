package io.github.pulsarspark.schema.columns

import java.util.Locale

import org.apache.spark.sql.types.StructType

import io.github.pulsarspark.errors.Conditions

/** Names of columns as Spark compares them. Pure. */
private[pulsarspark] object ColumnNames {

  /** Two columns of the same struct, with its path, that Spark takes for one name. */
  def alike(columns: StructType, isCaseSensitive: Boolean): Option[(String, String)] = {
    def folded(name: String) = if (isCaseSensitive) name else name.toLowerCase(Locale.ROOT)
    NestedTypes.in(columns).flatMap {
      case (path, struct: StructType) =>
        val places = struct.fieldNames.toSeq.groupBy(folded)
        struct.fieldNames.iterator.map(name => places(folded(name))).collect { case Seq(one, other, _*) =>
          (path + one, path + other)
        }
      case _ => Iterator.empty
    }.nextOption()
  }

  /** Fails for columns of a read that Spark cannot distinguish: it would prune one of them to the type of the other. */
  def checkRead(source: String, columns: StructType, isCaseSensitive: Boolean): Unit =
    alike(columns, isCaseSensitive).foreach { case (one, other) =>
      throw Conditions.ReadColumnsAlike(one = one, other = other, source = source).exception
    }
}
