package io.github.pulsarspark.schema

import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.schema.convert.{ColumnMismatch, SparkTime}

/** How rows become messages: checked on the driver before any task, sent to tasks, where `rows.RowEncoder` carries it
  * out.
  *
  * @param schema
  *   what producers register or use: the topic's own, or one made from the columns
  * @param input
  *   columns of the rows
  * @param topic
  *   where all rows go, None when the rows say so
  * @param metadata
  *   metadata columns that are set on messages, with their place in the rows
  * @param values
  *   places of the value columns
  * @param cutsTimes
  *   whether parts of a millisecond are cut where a schema has no place for them; else they are refused
  */
final case class WritePlan(
    schema: TopicSchema,
    input: StructType,
    topic: Option[String],
    metadata: Map[String, Int],
    values: Seq[Int],
    cutsTimes: Boolean
) {

  /** What error texts call the destination. */
  private[schema] def target: String = topic.fold("the topics of the rows")(t => s"topic $t")

  /** For texts that speak of a topic by name. */
  private[schema] def topicName: String = topic.getOrElse("of the rows")

  /** The error for what a row says of its message and cannot be. */
  private[schema] def refused(column: String, what: String, reason: String): RuntimeException =
    Conditions.WriteValueNotAllowed(field = column, target = target, value = what, reason = reason).exception

  /** For what becomes a text of Java's on its way, where anything but UTF-8 would be replaced. */
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

  /** The columns that make the value. */
  private[schema] def valueColumns: StructType = StructType(values.map(input(_)))

  /** The place of the only value column, which the reading side calls `value`, too. */
  private[schema] def singleValue: Int = values match {
    case Seq(i) if input(i).name == ValueColumns.Single => i
    case several                                        =>
      val other = several.map(input(_).name).find(_ != ValueColumns.Single).getOrElse(ValueColumns.Single)
      throw new ColumnMismatch(other,
        s"values are not records, so that there must be one value column, called ${ValueColumns.Single}")
  }
}
