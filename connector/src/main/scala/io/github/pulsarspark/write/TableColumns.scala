package io.github.pulsarspark.write

import org.apache.spark.sql.types.{BinaryType, StructField, StructType}

import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.schema.ValueColumns
import io.github.pulsarspark.schema.columns.{FieldNames, MetadataColumns, RowColumns}

/** Columns of a table that rows are written to. Spark leaves the columns of the rows as they are, because the table
  * takes any: it neither reorders nor casts them. Pure.
  *
  * Metadata columns are always known by their names. The others are written by their names if the table has all of
  * them; columns of the table that are missing are null. Else they are written by their places, if there is one for
  * each column of the table, and those whose names the table has are in their places: `VALUES ('Rome', 3.5)` arrives as
  * `col1, col2`, and `SELECT upper(city), km` as `upper(city), km`.
  *
  * @param columns
  *   of the table, with or without metadata columns
  * @param isCaseSensitive
  *   false if a name in another case is the same name, where it is not that of another column
  */
private[pulsarspark] final class TableColumns(columns: StructType, isCaseSensitive: Boolean) {
  import TableColumns._

  private val values = columns.fields.filter(MetadataColumns.of(_).isEmpty)

  /** The value columns of the table, for the schema of a topic that has none; None for bytes, which need none. */
  def declared: Option[StructType] = values match {
    case Array()                                                   => None
    case Array(StructField(ValueColumns.Single, BinaryType, _, _)) => None
    case several                                                   => Some(StructType(several))
  }

  /** The columns of the rows of a batch as the table calls them: by name, or by place. */
  def ofBatch(rows: StructType): StructType = named(rows) { own =>
    if (own.forall(_.place.nonEmpty) && !isGenerated(own)) None
    else if (own.size != values.length) Some(s"they are taken by their places, and there are ${own.size}")
    else
      own.zipWithIndex.collectFirst {
        case (Column(field, Some(place)), i) if place != i =>
          s"they are taken by their places, and `${field.name}` is at place ${i + 1} instead of ${place + 1}"
      }
  }

  /** Like [[ofBatch]], by name alone: a stream is not written beside the names of the table. */
  def ofStream(rows: StructType): StructType =
    named(rows)(own => Option.when(own.exists(_.place.isEmpty))("a stream is written by name"))

  /** @param refusal
    *   the reason why the columns of values cannot be written
    */
  private def named(rows: StructType)(refusal: Seq[Column] => Option[String]): StructType = {
    val targets = rows.fields.toSeq.map(f => f -> target(f))
    val own     = targets.collect { case (field, Value(place)) => Column(field, place) }
    own.filter(_.place.isEmpty).foreach(c =>
      RowColumns.checkMeant(c.field, s"the table with the columns ${values.map(_.name).mkString(", ")}")
    )
    val known = targets.collect { case (_, known) if known != Value(None) => known }
    known.diff(known.distinct).headOption.map {
      case Metadata(name) => s"`$name` is there twice"
      case Value(place)   => s"${place.map(values(_).name).mkString("`", "", "`")} is there twice"
    }.orElse {
      val unknown = own.find(_.place.isEmpty).fold("")(c => s"`${c.field.name}` is not one of them; ")
      refusal(own).map(unknown + _)
    }.foreach { reason =>
      throw Conditions.TableColumnUnknown(rows = rows.fieldNames.mkString(", "),
        columns = values.map(_.name).mkString(", "), reason = reason).exception
    }
    val places = own.zipWithIndex.map { case (column, i) => column.place.getOrElse(i) }.iterator
    StructType(targets.map {
      case (field, Metadata(name)) => field.copy(name = name)
      case (field, _: Value)       => values(places.next()).copy(dataType = field.dataType, nullable = field.nullable)
    })
  }

  private def target(field: StructField): Target = {
    val isField = FieldNames.isMarked(field)
    exact(field.name).map(i => Value(Some(i)))
      .orElse(Option.unless(isField)(MetadataColumns.writable(field.name)).flatten.map(c => Metadata(c.name)))
      .orElse(Option.unless(isCaseSensitive)(inAnyCase(field.name, isField)).flatten)
      .getOrElse(Value(None))
  }

  private def exact(name: String): Option[Int] = Some(values.indexWhere(_.name == name)).filter(_ >= 0)

  private def inAnyCase(name: String, isField: Boolean): Option[Target] =
    values.indices.filter(values(_).name.equalsIgnoreCase(name)) match {
      case Seq(one) => Some(Value(Some(one)))
      case Seq()    =>
        if (isField) None
        else MetadataColumns.inWrites.find(_.name.equalsIgnoreCase(name)).map(c => Metadata(c.name))
      case _ => None
    }
}

private object TableColumns {

  /** Meaning of a column of the rows. */
  private sealed trait Target
  private final case class Metadata(name: String)    extends Target
  private final case class Value(place: Option[Int]) extends Target

  /** A column of the rows that holds values.
    *
    * @param place
    *   of the column of this name in the table
    */
  private final case class Column(field: StructField, place: Option[Int])

  /** True for the names that Spark makes for `VALUES`, which mean places. */
  private def isGenerated(own: Seq[Column]) =
    own.nonEmpty && own.map(_.field.name) == own.indices.map(i => s"col${i + 1}")
}
