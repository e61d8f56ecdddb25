package io.github.pulsarspark.schema

import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import io.github.pulsarspark.errors.PulsarErrors
import io.github.pulsarspark.schema.ValueWriterCompiler.Misfit
import io.github.pulsarspark.schema.avro.AvroSchemaOfColumns
import io.github.pulsarspark.schema.columns.MetadataColumn.Written
import io.github.pulsarspark.schema.columns.MetadataColumns
import io.github.pulsarspark.schema.convert.SparkTime
import io.github.pulsarspark.schema.keyvalue.{KeyValueChoice, KeyValueEncoder, KeyValueSchema}
import io.github.pulsarspark.schema.primitive.PrimitiveEncoder
import io.github.pulsarspark.schema.protobuf.ProtobufParsingInfo

/** How rows become messages: checked on the driver before any task, sent to tasks, where [[RowEncoder]] carries it out.
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
    PulsarErrors("PULSAR_WRITE_VALUE_NOT_ALLOWED", "field" -> column, "target" -> target, "value" -> what,
      "reason"                                             -> reason)

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
      throw PulsarErrors(
        "PULSAR_WRITE_PRECISION_LOSS",
        "field"      -> field,
        "target"     -> target,
        "value"      -> SparkTime.text(micros),
        "schemaType" -> schemaType
      )
}

object WritePlan {

  /** Metadata columns are set on the messages ([[MetadataColumn.Written]]) or left out, when they are ones that only
    * Pulsar can decide, so that rows can be written as they were read. All other columns are values: a single column
    * `value` that is not a struct is a primitive value, everything else the fields of one record.
    *
    * The messages' own times are kept in milliseconds: parts of one are cut towards the past. Those of values are cut
    * as `cutsTimes` says.
    *
    * @param topicSchema
    *   the schema of the topic, if it has one
    * @param schemaType
    *   `auto` (the topic's schema, else one made from the columns), `bytes` (the column `value` as it is, whatever the
    *   schema of the topic, null for a tombstone), `avro`, `json`, `key_value` or a primitive, in any case
    * @param keyValue
    *   what was said of the parts of a KEY_VALUE schema
    */
  def apply(
      input: StructType,
      topic: Option[String],
      topicSchema: Option[TopicSchema],
      schemaType: String,
      keyValue: KeyValueChoice = KeyValueChoice(),
      cutsTimes: Boolean = false
  ): WritePlan = {
    val columns  = input.fields.toSeq.zipWithIndex.map { case (f, i) => (f, i, MetadataColumns.inWrites(f.name)) }
    val metadata = columns.collect {
      case (f, i, Some(Written(types @ _*))) if types.exists(sameType(_, f.dataType)) => f.name -> i
      case (f, _, Some(Written(types @ _*)))                                          => throw wrongType(f, types)
    }
    val values = columns.collect { case (_, i, None) => i }
    val draft  = WritePlan(TopicSchema.Bytes, input, topic, metadata.toMap, values, cutsTimes)
    if (values.isEmpty)
      throw PulsarErrors("PULSAR_WRITE_NO_VALUE_COLUMN", "target" -> draft.target,
        "columns"                                                 -> input.fieldNames.mkString(", "))
    val own    = topicSchema.filterNot(s => s.schemaType == "NONE" || s.schemaType == "BYTES")
    val schema = schemaOf(draft, own, schemaType.toUpperCase(java.util.Locale.ROOT), keyValue)
    val plan   = draft.copy(schema = schema)
    // Compiling is the check; tasks do it again, because what is compiled is not for sending.
    fitting(plan) { ValueEncoder(plan); () }
    plan
  }

  private def sameType(wanted: DataType, actual: DataType): Boolean = (wanted, actual) match {
    case (MapType(k, v, _), MapType(actualKey, actualValue, _)) => sameType(k, actualKey) && sameType(v, actualValue)
    case (ArrayType(item, _), ArrayType(actualItem, _))         => sameType(item, actualItem)
    case (_: StringType, _: StringType)                         => true
    case (_: DayTimeIntervalType, _: DayTimeIntervalType)       => true
    case _                                                      => wanted == actual
  }

  private def wrongType(column: StructField, types: Seq[DataType]) =
    PulsarErrors(
      "PULSAR_WRITE_COLUMN_TYPE",
      "column"   -> column.name,
      "actual"   -> column.dataType.sql,
      "expected" -> types.map(_.sql).mkString(" or ")
    )

  private def schemaOf(
      plan: WritePlan,
      own: Option[TopicSchema],
      schemaType: String,
      keyValue: KeyValueChoice
  ): TopicSchema = {
    def refused(reason: String) =
      PulsarErrors("PULSAR_WRITE_SCHEMA_TYPE", "schemaType" -> schemaType, "target" -> plan.target, "reason" -> reason)
    val chosen = (schemaType, own) match {
      case ("AUTO", Some(schema))                      => schema
      case ("AUTO", None)                              => fromColumns(plan)
      case ("BYTES", _)                                => TopicSchema.Bytes
      case (t, Some(schema)) if t == schema.schemaType => schema
      case (_, Some(schema))           => throw refused(s"the schema of the topic is of type ${schema.schemaType}")
      case ("AVRO" | "JSON", None)     => record(plan, schemaType)
      case (KeyValueSchema.Type, None) =>
        fitting(plan.copy(schema = TopicSchema(schemaType)))(KeyValueEncoder.schemaOf(plan, keyValue))
      case ("PROTOBUF_NATIVE" | ProtobufParsingInfo.Type, None) =>
        throw refused("such a schema is made from a message and not from columns, and the topic does not have one yet")
      case (t, None) if SchemaTranslation.primitive(t).isDefined => TopicSchema(t)
      case _ => throw refused("this version does not write that schema type")
    }
    if (keyValue.isGiven) {
      if (chosen.schemaType != KeyValueSchema.Type)
        throw refused(s"options of ${KeyValueSchema.Type} schemas do not go with ${chosen.schemaType}")
      keyValue.conflict(KeyValueSchema.of(chosen)).foreach(reason =>
        throw refused(s"in the schema of the topic $reason")
      )
    }
    chosen
  }

  private def fromColumns(plan: WritePlan): TopicSchema = plan.values.map(plan.input(_)) match {
    case Seq(StructField(SchemaTranslation.ValueColumn, t, _, _)) =>
      PrimitiveEncoder.schemaType(t).fold(record(plan, "AVRO"))(TopicSchema(_))
    case _ => record(plan, "AVRO")
  }

  /** JSON schemas are described in Avro's terms, too. */
  private def record(plan: WritePlan, schemaType: String): TopicSchema =
    fitting(plan.copy(schema = TopicSchema(schemaType))) {
      TopicSchema(schemaType, AvroSchemaOfColumns(StructType(plan.values.map(plan.input(_)))).toString)
    }

  private def fitting[T](plan: WritePlan)(body: => T): T =
    try body
    catch { case e: Misfit => throw mismatch(plan, plan.schema.schemaType)(e) }

  private def mismatch(plan: WritePlan, schemaType: String)(e: Misfit) =
    PulsarErrors(
      "PULSAR_WRITE_COLUMN_MISMATCH",
      "column"     -> e.column,
      "schemaType" -> schemaType,
      "target"     -> plan.target,
      "reason"     -> e.reason
    )
}
