package io.github.pulsarspark.schema.rows

import org.apache.spark.sql.types._

import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.schema.avro.AvroFormat
import io.github.pulsarspark.schema.columns.MetadataColumns
import io.github.pulsarspark.schema.convert.ColumnMismatch
import io.github.pulsarspark.schema.keyvalue.{KeyValueChoice, KeyValueEncoder, KeyValueSchema}
import io.github.pulsarspark.schema.primitive.PrimitiveFormat
import io.github.pulsarspark.schema.{TopicSchema, ValueColumns, WritePlan}

/** Decides on the driver how rows become messages. */
object WritePlanner {

  /** Metadata columns are set on the messages, or ignored when Pulsar or the producer decides on them, so that rows can
    * be written as they were read (`MetadataColumns.inWrites`). All other columns are values: a single column `value`
    * that is not a struct is a primitive value, everything else the fields of one record.
    *
    * Times of metadata columns are cut to milliseconds, towards the past. Times of values are cut if `cutsTimes` is
    * set.
    *
    * @param topicSchema
    *   the schema of the topic, if it has one
    * @param schemaType
    *   `auto` (the topic's schema, else one derived from the columns), `bytes` (the column `value` as it is, whatever
    *   the schema of the topic, null for a tombstone), `avro`, `json`, `key_value` or a primitive, in any case
    * @param keyValue
    *   the options for the parts of a KEY_VALUE schema
    * @param declared
    *   value columns that a schema is derived from; None for those of the rows
    */
  def apply(
      input: StructType,
      topic: Option[String],
      topicSchema: Option[TopicSchema],
      schemaType: String,
      keyValue: KeyValueChoice = KeyValueChoice(),
      cutsTimes: Boolean = false,
      declared: Option[StructType] = None
  ): WritePlan = {
    val columns  = input.fields.toSeq.zipWithIndex.map { case (f, i) => (f, i, MetadataColumns.written(f)) }
    val metadata =
      for {
        (f, i, Some(column)) <- columns
        writes               <- column.writer
        if f.dataType != NullType // sets nothing
      } yield if (writes.types.exists(sameType(_, f.dataType))) f.name -> i else throw wrongType(f, writes.types)
    val values = columns.collect { case (_, i, None) => i }
    val draft  = WritePlan(TopicSchema.Bytes, input, topic, metadata.toMap, values, cutsTimes)
    if (values.isEmpty)
      throw Conditions.WriteNoValueColumn(target = draft.target, columns = input.fieldNames.mkString(", ")).exception
    val own    = topicSchema.filterNot(_.isReadAsBytes)
    val table  = declared.fold(draft)(t => draft.copy(input = t, metadata = Map.empty, values = t.indices))
    val schema = schemaOf(table, own, schemaType.toUpperCase(java.util.Locale.ROOT), keyValue)
    val plan   = draft.copy(schema = schema)
    // Compiling is the check; tasks compile again, because a compiled encoder cannot be sent.
    fitting(plan) { SchemaTranslation.encoder(plan); () }
    plan
  }

  /** The schema of a topic with more fields at its end, which values need not have; left with the reason when there is
    * none.
    */
  def extended(topic: String, schema: TopicSchema, columns: StructType): Either[String, TopicSchema] = {
    val plan = WritePlan(schema, columns, Some(topic), Map.empty, columns.indices, cutsTimes = false)
    fitting(plan)(SchemaTranslation.extended(topic, schema, columns))
  }

  private def sameType(expected: DataType, actual: DataType): Boolean = (expected, actual) match {
    case (MapType(k, v, _), MapType(actualKey, actualValue, _)) => sameType(k, actualKey) && sameType(v, actualValue)
    case (ArrayType(item, _), ArrayType(actualItem, _))         => sameType(item, actualItem)
    case (_: StringType, _: StringType)                         => true
    case (_: DayTimeIntervalType, _: DayTimeIntervalType)       => true
    case (_: NumericType, _: NumericType)                       => true
    case _                                                      => expected == actual
  }

  private def wrongType(column: StructField, types: Seq[DataType]) =
    Conditions.WriteColumnType(column = column.name, actual = column.dataType.sql,
      expected = types.map(_.sql).mkString(" or ")).exception

  private def schemaOf(
      plan: WritePlan,
      own: Option[TopicSchema],
      schemaType: String,
      keyValue: KeyValueChoice
  ): TopicSchema = {
    def refused(reason: String) =
      Conditions.WriteSchemaType(schemaType = schemaType, target = plan.target, reason = reason).exception
    val chosen = (schemaType, own) match {
      case ("AUTO", Some(schema))                      => schema
      case ("AUTO", None)                              => automatic(plan)
      case ("BYTES", _)                                => TopicSchema.Bytes
      case (t, Some(schema)) if t == schema.schemaType => schema
      case (_, Some(schema))           => throw refused(s"the schema of the topic is of type ${schema.schemaType}")
      case (KeyValueSchema.Type, None) =>
        fitting(plan.copy(schema = TopicSchema(schemaType)))(KeyValueEncoder.schemaOf(plan, keyValue))
      case (t, None) =>
        SchemaTranslation.format(t) match {
          case Some(format) =>
            fitting(plan.copy(schema = TopicSchema(t)))(format.fromColumns(plan, t)).fold(r => throw refused(r),
              identity)
          case None => throw refused("this version does not write that schema type")
        }
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

  private def automatic(plan: WritePlan): TopicSchema = {
    def record = fitting(plan.copy(schema = TopicSchema("AVRO")))(AvroFormat.ofColumns(plan.valueColumns))
    plan.valueColumns.fields match {
      case Array(StructField(ValueColumns.Single, t, _, _)) =>
        PrimitiveFormat.schemaType(t).fold(record)(TopicSchema(_))
      case _ => record
    }
  }

  private def fitting[T](plan: WritePlan)(body: => T): T =
    try body
    catch { case e: ColumnMismatch => throw mismatch(plan, plan.schema.schemaType)(e) }

  private def mismatch(plan: WritePlan, schemaType: String)(e: ColumnMismatch) =
    Conditions.WriteColumnMismatch(column = e.column, schemaType = schemaType, target = plan.target,
      reason = e.reason).exception
}
