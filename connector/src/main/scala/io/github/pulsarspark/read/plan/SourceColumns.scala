package io.github.pulsarspark.read.plan

import scala.collection.mutable

import org.apache.spark.sql.types.{StructField, StructType}

import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.options.registry.NearestName
import io.github.pulsarspark.schema.columns.{ColumnMerge, ErrorColumns, MetadataColumn, MetadataColumns}
import io.github.pulsarspark.schema.rows.SchemaTranslation
import io.github.pulsarspark.schema.{TopicSchema, ValueColumns}

/** The columns of a read. Pure. */
private[pulsarspark] object SourceColumns {

  /** Schemas that were translated, so that equal ones are translated once. */
  final class Translated {
    private val tables = mutable.HashMap.empty[TopicSchema, Table]

    def size: Int = tables.size

    private[SourceColumns] def table(topic: String, schema: TopicSchema): Table = tables.getOrElseUpdate(
      schema.withoutVersion,
      Table(topic, SchemaTranslation.toStruct(topic, schema), SchemaTranslation.hasFields(topic, schema))
    )
  }

  /** Value columns of all topics. Records are merged by the names of their fields; other values must be equal. Without
    * any topic the value is bytes, as in a topic without a schema.
    */
  def values(schemas: Seq[(String, TopicSchema)], translated: Translated = new Translated): StructType = {
    val known  = if (schemas.isEmpty) Seq("no topic" -> TopicSchema.Bytes) else schemas
    val tables = known.map { case (topic, schema) => translated.table(topic, schema) }.distinctBy(t =>
      (t.columns, t.hasFields)
    )
    tables.zipWithIndex.tail.foldLeft(tables.head.columns) { case (all, (table, i)) =>
      // what fits all together fits each of them
      if (table.hasFields != tables.head.hasFields || ColumnMerge(all, table.columns).isLeft)
        tables.take(i).iterator.flatMap(first => difference(first, table).map(first -> _)).nextOption().foreach {
          case (first, difference) =>
            throw Conditions.SchemasDiffer(first = first.topic, other = table.topic, difference = difference).exception
        }
      ColumnMerge(all, table.columns).getOrElse(all)
    }
  }

  private final case class Table(topic: String, columns: StructType, hasFields: Boolean)

  private def difference(first: Table, other: Table): Option[String] = {
    val value = ValueColumns.Single
    if (first.hasFields != other.hasFields)
      Some(s"column `$value` is ${text(first)} in ${first.topic} and ${text(other)} in ${other.topic}")
    else
      ColumnMerge(first.columns, other.columns).left.toOption.map { d =>
        s"column `${d.path}` is ${d.one.sql} in ${first.topic} and ${d.other.sql} in ${other.topic}"
      }
  }

  private def text(table: Table): String = if (table.hasFields) "a record" else table.columns.head.dataType.sql

  /** Value columns, then the metadata columns that are always shown, then those that `metadataColumns` and
    * `errorColumns`.
    */
  def shown(
      values: StructType,
      metadataColumns: Option[String],
      errorColumns: Boolean,
      isCaseSensitive: Boolean
  ): StructType = {
    val metadata = MetadataColumns.default ++ requested(metadataColumns)
    StructType(values.fields ++ besides(values, metadata, isCaseSensitive) ++ ofErrors(values, errorColumns))
  }

  /** All columns that a query can select. */
  def all(values: StructType, errorColumns: Boolean, isCaseSensitive: Boolean): StructType =
    StructType(values.fields ++ besides(values, MetadataColumns.all, isCaseSensitive) ++ ofErrors(values, errorColumns))

  /** Fails when columns that the user or an earlier plan set leave open which of two is meant. */
  def checkFields(columns: StructType, values: StructType): Unit =
    columns.fields.find(c => MetadataColumns.of(c).isDefined && values.fieldNames.contains(c.name)).foreach { c =>
      throw Conditions.UserSchemaMismatch(column = c.name,
        reason =
          "it is a metadata column, and a field of the topic has the same name; without a schema the field is read")
        .exception
    }

  private def besides(values: StructType, metadata: Seq[MetadataColumn], isCaseSensitive: Boolean): Seq[StructField] =
    MetadataColumns.besides(values, metadata, isCaseSensitive).map(field)

  private def ofErrors(values: StructType, shown: Boolean): Seq[StructField] =
    if (!shown) Nil
    else {
      ErrorColumns.all.map(_.name).find(values.fieldNames.contains).foreach { name =>
        throw Conditions.OptionInvalid(option = "errorColumns", value = "true",
          allowed = s"false for a topic that has a field `$name` of its own").exception
      }
      ErrorColumns.all
    }

  private def requested(option: Option[String]): Seq[MetadataColumn] = option.map(_.trim) match {
    case None                                       => Nil
    case Some(word) if word.equalsIgnoreCase("all") => MetadataColumns.hidden
    case Some(list)                                 =>
      val names  = list.split(',').map(_.trim).filter(_.nonEmpty).toSeq
      val chosen = names.map(name => MetadataColumns.byName(name).getOrElse(throw unknown(name)))
      MetadataColumns.hidden.filter(chosen.contains)
  }

  private def unknown(name: String) = {
    val known = MetadataColumns.all.map(_.name)
    Conditions.MetadataColumnUnknown(column = name,
      nearest = NearestName(name, known).fold("")(n => s"; the nearest name is `$n`"),
      known = known.mkString(", ")).exception
  }

  private def field(column: MetadataColumn) = StructField(column.name, column.dataType)
}
