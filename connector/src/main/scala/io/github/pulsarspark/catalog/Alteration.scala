package io.github.pulsarspark.catalog

import org.apache.spark.sql.connector.catalog.TableChange
import org.apache.spark.sql.types.{StructField, StructType}

import io.github.pulsarspark.errors.Conditions

/** Changes that ALTER TABLE makes to a topic.
  *
  * @param columns
  *   to add at the end
  * @param partitions
  *   the new number
  * @param policies
  *   to set and to unset
  */
private[catalog] final case class Alteration(
    columns: StructType = new StructType,
    partitions: Option[Int] = None,
    policies: PolicyChanges = PolicyChanges()
)

/** Reads the changes that Spark passes; it checks only that columns are new. Pure. */
private[catalog] object Alteration {

  def apply(topic: String, changes: Seq[TableChange]): Alteration =
    changes.foldLeft(Alteration()) {
      case (all, add: TableChange.AddColumn) =>
        all.copy(columns = all.columns.add(column(add)))
      case (all, set: TableChange.SetProperty) if TopicDefinition.isPartitions(set.property) =>
        all.copy(partitions = Some(TopicDefinition.partitions(topic, set.value)))
      case (all, set: TableChange.SetProperty) =>
        val property = policy(topic, set.property)
        all.copy(policies = all.policies + (property, Some(TopicDefinition.policy(topic, property, set.value))))
      case (all, unset: TableChange.RemoveProperty) =>
        all.copy(policies = all.policies + (policy(topic, unset.property), None))
      case (_, other) =>
        throw refused(s"ALTER TABLE with ${words(other)}", "the values of messages stay as they were written",
          "Use ADD COLUMN, SET TBLPROPERTIES or UNSET TBLPROPERTIES")
    }

  private def policy(topic: String, property: String): PolicyProperty = PolicyProperty.find(property).getOrElse {
    if (TopicDefinition.isPartitions(property))
      throw refused(s"UNSET TBLPROPERTIES ($property)", "a topic keeps its partitions",
        s"Use SET TBLPROPERTIES ($property = n) with a higher number")
    if (TopicDefinition.isOfSchema(property))
      throw refused(s"ALTER TABLE with the property $property", "the schema of a topic keeps its type",
        "Create a table with it")
    throw TopicDefinition.unknown(topic, property)
  }

  private def column(add: TableChange.AddColumn): StructField = {
    val name                                           = add.fieldNames.mkString(".")
    def no(what: String, why: String, instead: String) = throw refused(s"ADD COLUMN `$name` $what".trim, why, instead)
    if (add.fieldNames.length > 1) no("", "only columns of the table can be added, no fields of one", "Add a column")
    if (!add.isNullable) no("NOT NULL", "the messages that exist do not have it", "Remove NOT NULL")
    if (add.position != null) no(add.position.toString, "a new column is the last one", s"Remove ${add.position}")
    if (add.defaultValue != null) no("DEFAULT", "messages without the column have null", "Remove DEFAULT")
    val field = StructField(name, add.dataType, nullable = true)
    DeclaredColumns.check(s"ADD COLUMN `$name`", field)
    Option(add.comment).fold(field)(field.withComment)
  }

  /** `UpdateColumnType` -> `update column type`. */
  private def words(change: TableChange): String =
    change.getClass.getSimpleName.replaceAll("([a-z])([A-Z])", "$1 $2").toLowerCase

  private def refused(statement: String, why: String, instead: String) =
    Conditions.CatalogStatement(statement = statement, why = why, instead = instead).exception
}
