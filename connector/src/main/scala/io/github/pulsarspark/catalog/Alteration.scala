package io.github.pulsarspark.catalog

import org.apache.spark.sql.connector.catalog.TableChange
import org.apache.spark.sql.types.{StructField, StructType}

import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.schema.columns.MetadataColumns

/** Changes that ALTER TABLE makes to a topic.
  *
  * @param columns
  *   to add at the end
  * @param partitions
  *   the new number
  */
private[catalog] final case class Alteration(columns: StructType, partitions: Option[Int])

/** Reads the changes that Spark passes; it checks only that columns are new. Pure. */
private[catalog] object Alteration {

  def apply(topic: String, changes: Seq[TableChange]): Alteration =
    changes.foldLeft(Alteration(new StructType, None)) {
      case (all, add: TableChange.AddColumn) =>
        all.copy(columns = all.columns.add(column(add)))
      case (all, set: TableChange.SetProperty) if TopicDefinition.isPartitions(set.property) =>
        all.copy(partitions = Some(TopicDefinition.partitions(topic, set.value)))
      case (_, set: TableChange.SetProperty) => throw TopicDefinition.unknown(topic, set.property)
      case (_, other)                        =>
        throw refused(s"ALTER TABLE with ${words(other)}", "the values of messages stay as they were written",
          "Use ADD COLUMN, or SET TBLPROPERTIES (partitions = n)")
    }

  private def column(add: TableChange.AddColumn): StructField = {
    val name                                           = add.fieldNames.mkString(".")
    def no(what: String, why: String, instead: String) = throw refused(s"ADD COLUMN `$name` $what".trim, why, instead)
    if (add.fieldNames.length > 1) no("", "only columns of the table can be added, no fields of one", "Add a column")
    if (!add.isNullable) no("NOT NULL", "the messages that exist do not have it", "Remove NOT NULL")
    if (add.position != null) no(add.position.toString, "a new column is the last one", s"Remove ${add.position}")
    if (add.defaultValue != null) no("DEFAULT", "messages without the column have null", "Remove DEFAULT")
    if (MetadataColumns.byName(name).isDefined || MetadataColumns.writable(name).isDefined)
      no("", "a metadata column has the name", "Choose another name")
    val field = StructField(name, add.dataType, nullable = true)
    Option(add.comment).fold(field)(field.withComment)
  }

  /** `UpdateColumnType` -> `update column type`. */
  private def words(change: TableChange): String =
    change.getClass.getSimpleName.replaceAll("([a-z])([A-Z])", "$1 $2").toLowerCase

  private def refused(statement: String, why: String, instead: String) =
    Conditions.CatalogStatement(statement = statement, why = why, instead = instead).exception
}
