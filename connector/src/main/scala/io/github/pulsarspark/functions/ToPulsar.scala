package io.github.pulsarspark.functions

import org.apache.spark.sql.Row
import org.apache.spark.sql.api.java.UDF1
import org.apache.spark.sql.catalyst.{CatalystTypeConverters, InternalRow}
import org.apache.spark.sql.catalyst.expressions.Literal
import org.apache.spark.sql.types.{DataType, StructField, StructType}

import io.github.pulsarspark.schema.rows.{RowEncoder, SchemaTranslation, WritePlanner}
import io.github.pulsarspark.schema.{TopicSchema, ValueColumns, WritePlan}

/** `to_pulsar(value)`: the encoder of writes for values without their messages. The type of its argument is known only
  * with the first value. Every task has its own; one that Spark evaluates on the driver may be used by several threads.
  *
  * @param schema
  *   what values are encoded with
  * @param cutsTimes
  *   as in [[WritePlan]]
  */
private[functions] final class ToPulsar(topic: String, schema: TopicSchema, cutsTimes: Boolean)
    extends UDF1[Any, Array[Byte]] {
  import ToPulsar._

  private val hasFields = SchemaTranslation.hasFields(topic, schema)

  @transient private lazy val own           = SchemaTranslation.toType(topic, schema)
  @transient private var encoding: Encoding = _

  override def call(value: Any): Array[Byte] =
    if (value == null) null
    else synchronized {
      val dataType = typeOf(value)
      if (encoding == null || (encoding.dataType ne dataType) && encoding.dataType != dataType)
        encoding = encodingOf(dataType)
      encoding.encode(value)
    }

  /** The type of items is unknown in arrays and maps. */
  private def typeOf(value: Any): DataType = value match {
    case row: Row                                                   => row.schema
    case _: scala.collection.Seq[_] | _: scala.collection.Map[_, _] => own
    case simple                                                     => Literal(simple).dataType
  }

  private def encodingOf(dataType: DataType): Encoding = dataType match {
    case fields: StructType if hasFields => new Encoding(dataType, plan(fields), _.getStruct(0, fields.size))
    case _                               =>
      new Encoding(dataType, plan(StructType(Seq(StructField(ValueColumns.Single, dataType)))), identity)
  }

  /** A topic without schema takes bytes as they are. What would be set on a message has no place in its value. */
  private def plan(columns: StructType): WritePlan =
    WritePlanner(columns, Some(topic), Some(schema), if (schema.isReadAsBytes) "bytes" else "auto",
      cutsTimes = cutsTimes).copy(
      metadata =
        Map.empty
    )

  override def toString: String = s"${ToPulsar.Name}($topic)"
}

private object ToPulsar {

  /** Name in SQL. */
  val Name: String = "to_pulsar"

  /** @param columns
    *   what to encode of a row that has the value as its only column
    */
  private final class Encoding(val dataType: DataType, plan: WritePlan, columns: InternalRow => InternalRow) {
    private val toInternal = CatalystTypeConverters.createToCatalystConverter(dataType)
    private val rows       = new RowEncoder(plan)

    def encode(value: Any): Array[Byte] = rows.encode(columns(InternalRow(toInternal(value)))).value
  }
}
