package io.github.pulsarspark.schema.columns

import java.util.Locale

import org.apache.spark.sql.types.{StructField, StructType}

import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.options.registry.NearestName

/** Columns of rows that are written by their own names, and not by those of a table. Pure. */
private[pulsarspark] object RowColumns {

  /** The columns, each metadata column with the name that it has in reads. Fails if two columns have one name. */
  def apply(rows: StructType, isCaseSensitive: Boolean): StructType = {
    val known = rows.fields.toSeq.map(f => f -> metadata(f, isCaseSensitive))
    Seq(known.collect { case (f, Some(_)) => f }, known.collect { case (f, None) => f })
      .flatMap(fields => ColumnNames.alike(StructType(fields), isCaseSensitive)).headOption
      .foreach { case (one, other) => throw Conditions.WriteColumnTwice(one = one, other = other).exception }
    StructType(known.map { case (f, column) => column.fold(f)(c => f.copy(name = c.name)) })
  }

  /** Fails for a column that would become a field of a new schema, although a metadata column is probably meant. */
  def checkNew(rows: StructType, target: String): Unit =
    rows.fields.filter(MetadataColumns.written(_).isEmpty).foreach(checkMeant(_, target))

  /** Like [[checkNew]], for one column of values that its target does not know. */
  def checkMeant(column: StructField, target: String): Unit =
    if (!FieldNames.isMarked(column)) near(column.name).foreach { nearest =>
      throw Conditions.MetadataColumnNear(column = column.name, nearest = nearest, target = target).exception
    }

  /** The metadata column whose name this one has with one letter more, less, changed or moved, or with other case or
    * underscores.
    */
  def near(name: String): Option[String] =
    if (!name.startsWith(Mark)) None
    else {
      val letters = this.letters(name)
      MetadataColumns.inWrites.map(_.name).find { known =>
        val own = this.letters(known)
        NearestName.distance(letters, own) <= 1 || letters.sorted == own.sorted
      }
    }

  private val Mark = "__"

  private def letters(name: String) = name.replace("_", "").toLowerCase(Locale.ROOT)

  private def metadata(field: StructField, isCaseSensitive: Boolean): Option[MetadataColumn] =
    MetadataColumns.written(field).orElse(
      if (isCaseSensitive || FieldNames.isMarked(field)) None
      else MetadataColumns.inWrites.find(_.name.equalsIgnoreCase(field.name))
    )
}
