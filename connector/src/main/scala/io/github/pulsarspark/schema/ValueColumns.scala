package io.github.pulsarspark.schema

import org.apache.spark.sql.types._

import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.schema.columns.FieldNames
import io.github.pulsarspark.schema.convert.UnsupportedSchema

/** The columns that hold the values of a topic. All are nullable, because any message can be a tombstone. */
private[pulsarspark] object ValueColumns {

  /** Name of the only value column of a topic whose values are not records. */
  val Single: String = "value"

  /** Columns of values that are not records. */
  private[schema] def single(dataType: DataType): StructType = StructType(Seq(StructField(Single, dataType)))

  /** Columns of records. */
  private[schema] def ofRecord(record: StructType): StructType =
    StructType(record.fields.map(f => FieldNames.marked(f.copy(nullable = true))))

  /** Runs `body`, which reads a definition; an unsupported schema becomes `PULSAR_SCHEMA_NOT_READABLE`. */
  private[schema] def reading[T](topic: String, schema: TopicSchema)(body: => T): T =
    try body
    catch { case e: UnsupportedSchema => throw notReadable(topic, schema, e.getMessage) }

  private[schema] def notReadable(topic: String, schema: TopicSchema, reason: String): RuntimeException =
    Conditions.SchemaNotReadable(topic = topic, schemaType = schema.schemaType, reason = reason).exception

  private[schema] def unsupported(topic: String, schema: TopicSchema): RuntimeException =
    Conditions.SchemaTypeNotSupported(topic = topic, schemaType = schema.schemaType).exception
}
