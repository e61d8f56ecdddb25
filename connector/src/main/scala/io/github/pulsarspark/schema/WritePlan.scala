package io.github.pulsarspark.schema

import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.schema.convert.{ColumnMismatch, NumberConversion, SparkTime}

/** Conversion of rows to messages. The driver checks it before any task starts; `rows.RowEncoder` runs it in tasks.
  *
  * @param schema
  *   the schema that producers register or use: the topic's own, or one derived from the columns
  * @param input
  *   columns of the rows
  * @param topic
  *   the topic of all rows, None when rows name their topics
  * @param metadata
  *   metadata columns that are set on messages, with their ordinals in the rows
  * @param values
  *   ordinals of the value columns
  * @param cutsTimes
  *   whether parts of a millisecond are cut where a schema has no place for them; else they are an error
  */
final case class WritePlan(
    schema: TopicSchema,
    input: StructType,
    topic: Option[String],
    metadata: Map[String, Int],
    values: Seq[Int],
    cutsTimes: Boolean
) {

  /** The destination in error texts. */
  private[schema] def target: String = topic.fold("the topics of the rows")(t => s"topic $t")

  /** The topic in texts that name it. */
  private[schema] def topicName: String = topic.getOrElse("of the rows")

  /** The error for a value of a metadata column that no message can have. */
  private[schema] def refused(column: String, what: String, reason: String): RuntimeException =
    Conditions.WriteValueNotAllowed(field = column, target = target, value = what, reason = reason).exception

  /** The error for a null where the schema allows none. */
  private[schema] def refusedNull(field: String): RuntimeException =
    Conditions.WriteNullValue(field = field, target = target).exception

  /** Reads numbers for a field of another type of numbers.
    *
    * @param schemaType
    *   for the error text, what the field is
    */
  private[schema] def numbers(field: String, schemaType: String): NumberConversion =
    new NumberConversion((value, reason) =>
      Conditions.WriteNumberNotExact(field = field, target = target, value = value, schemaType = schemaType,
        reason = reason).exception
    )

  /** Fails unless the value is UTF-8: anything else would be replaced when it becomes a Java string. */
  private[schema] def text(value: UTF8String, field: String): UTF8String =
    if (value.isValid) value else throw refused(field, "bytes that are not UTF-8", "a BINARY would hold them")

  /** A time for a schema that counts milliseconds; cut towards the past, as reads cut parts of a microsecond.
    *
    * @param schemaType
    *   for the error text, what the field is
    */
  private[schema] def millis(micros: Long, field: String, schemaType: String): Long =
    if (cutsTimes || micros % 1000 == 0) Math.floorDiv(micros, 1000L)
    else
      throw Conditions.WritePrecisionLoss(field = field, target = target, value = SparkTime.text(micros),
        schemaType = schemaType).exception

  /** Fails when a metadata column of the rows has the name of a field, which would be left empty in silence. */
  private[schema] def checkNoFieldIs(isField: String => Boolean): Unit =
    input.fieldNames.indices.diff(values).map(input.fieldNames(_)).find(isField).foreach { name =>
      throw new ColumnMismatch(name,
        "it is a metadata column and a field of the schema; select the column of a read of this topic as it is")
    }

  /** The columns of the value. */
  private[schema] def valueColumns: StructType = StructType(values.map(input(_)))

  /** The ordinal of the only value column, which reads call `value`, too. */
  private[schema] def singleValue: Int = values match {
    case Seq(i) if input(i).name == ValueColumns.Single => i
    case several                                        =>
      val other = several.map(input(_).name).find(_ != ValueColumns.Single).getOrElse(ValueColumns.Single)
      throw new ColumnMismatch(other,
        s"values are not records, so that there must be one value column, called ${ValueColumns.Single}")
  }
}
