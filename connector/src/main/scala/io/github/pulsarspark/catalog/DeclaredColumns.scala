package io.github.pulsarspark.catalog

import org.apache.spark.sql.types._

import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.schema.columns.{MetadataColumns, NestedTypes}

/** Columns that a statement declares, in contrast to those that rows bring. Pure. */
private[catalog] object DeclaredColumns {

  /** Fails for a column that the table would have otherwise than it is declared.
    *
    * @param statement
    *   with the name of the column
    */
  def check(statement: String, column: StructField): Unit = {
    if (MetadataColumns.inWrites.exists(_.name.equalsIgnoreCase(column.name)))
      throw refused(statement, "it is the name of a metadata column, which every table has, hidden",
        "Remove the column, or choose another name")
    textOf(column.dataType).foreach { text =>
      throw refused(s"$statement as ${text.sql}", "the texts of a topic have neither a length nor a collation",
        "Use STRING")
    }
  }

  /** The type of a text that is more than a STRING. */
  private def textOf(dataType: DataType): Option[DataType] = NestedTypes.in(dataType).map(_._2).find {
    case _: CharType | _: VarcharType => true
    case text: StringType             => text != StringType
    case _                            => false
  }

  private def refused(statement: String, why: String, instead: String) =
    Conditions.CatalogStatement(statement = statement, why = why, instead = instead).exception
}
