package io.github.pulsarspark.read

import org.apache.spark.sql.types.{StructField, StructType}

import io.github.pulsarspark.errors.PulsarErrors
import io.github.pulsarspark.options.NearestName
import io.github.pulsarspark.schema.{ErrorColumns, MetadataColumn, MetadataColumns, SchemaTranslation, TopicSchema}

/** Which columns a read has. Pure. */
private[pulsarspark] object SourceColumns {

  /** Value columns of all topics together, which must be the same. */
  def values(schemas: Seq[(String, TopicSchema)]): StructType = {
    val columns = schemas.map { case (topic, schema) => topic -> SchemaTranslation.toStruct(topic, schema) }
    columns.tail.find(_._2 != columns.head._2).foreach { case (topic, other) =>
      val (first, expected) = columns.head
      throw PulsarErrors(
        "PULSAR_SCHEMAS_DIFFER",
        "first"      -> first,
        "other"      -> topic,
        "difference" -> difference(first, expected, topic, other)
      )
    }
    columns.head._2
  }

  /** Value columns, then the metadata columns that are always shown, then those asked for by `metadataColumns` and `errorColumns`. */
  def shown(values: StructType, metadataColumns: Option[String], errorColumns: Boolean): StructType =
    StructType(values.fields ++ (MetadataColumns.default ++ asked(metadataColumns)).map(field) ++ ofErrors(values, errorColumns))

  /** Everything a query could select. */
  def all(values: StructType, errorColumns: Boolean): StructType =
    StructType(values.fields ++ MetadataColumns.all.map(field) ++ ofErrors(values, errorColumns))

  private def ofErrors(values: StructType, shown: Boolean): Seq[StructField] =
    if (!shown) Nil
    else {
      ErrorColumns.all.map(_.name).find(values.fieldNames.contains).foreach { name =>
        throw PulsarErrors(
          "PULSAR_OPTION_INVALID",
          "option"  -> "errorColumns",
          "given"   -> "true",
          "allowed" -> s"false for a topic that has a field `$name` of its own"
        )
      }
      ErrorColumns.all
    }

  private def asked(option: Option[String]): Seq[MetadataColumn] = option.map(_.trim) match {
    case None                                       => Nil
    case Some(word) if word.equalsIgnoreCase("all") => MetadataColumns.hidden
    case Some(list)                                 =>
      val names  = list.split(',').map(_.trim).filter(_.nonEmpty).toSeq
      val chosen = names.map(name => MetadataColumns.byName(name).getOrElse(throw unknown(name)))
      MetadataColumns.hidden.filter(chosen.contains)
  }

  private def unknown(name: String) = {
    val known = MetadataColumns.all.map(_.name)
    PulsarErrors(
      "PULSAR_METADATA_COLUMN_UNKNOWN",
      "column"  -> name,
      "nearest" -> NearestName(name, known).fold("")(n => s"; the nearest name is `$n`"),
      "known"   -> known.mkString(", ")
    )
  }

  private def field(column: MetadataColumn) = StructField(column.name, column.dataType)

  private def difference(first: String, a: StructType, second: String, b: StructType): String = {
    val name = (a.fieldNames ++ b.fieldNames).distinct.find(n => a.fields.find(_.name == n) != b.fields.find(_.name == n))
    def in(topic: String, s: StructType, n: String) =
      s.fields.find(_.name == n).fold(s"missing in $topic")(f => s"${f.dataType.sql} in $topic")
    name.fold("their columns have another order")(n => s"column `$n` is ${in(first, a, n)} and ${in(second, b, n)}")
  }
}
