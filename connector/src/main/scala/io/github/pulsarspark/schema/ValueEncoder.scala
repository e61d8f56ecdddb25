package io.github.pulsarspark.schema

import org.apache.avro.Schema
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.StructType

import io.github.pulsarspark.schema.ValueWriterCompiler.Misfit
import io.github.pulsarspark.schema.avro.AvroOutput
import io.github.pulsarspark.schema.json.JsonOutput
import io.github.pulsarspark.schema.keyvalue.{KeyValueEncoder, KeyValueSchema}
import io.github.pulsarspark.schema.primitive.PrimitiveEncoder
import io.github.pulsarspark.schema.protobuf.{ProtobufEncoder, ProtobufParsingInfo}

/** Makes the value of a message from a row. Not thread-safe. */
private[schema] abstract class ValueEncoder {

  /** An array that is not written again, null for a tombstone. */
  def encode(row: InternalRow): Array[Byte]
}

private[schema] object ValueEncoder {

  /** Fails with [[ValueWriterCompiler.Misfit]] when a column does not fit. */
  def apply(plan: WritePlan): ValueEncoder = plan.schema.schemaType match {
    case t if SchemaTranslation.primitive(t).isDefined =>
      val ordinal = single(plan)
      PrimitiveEncoder(t, ordinal, plan)
    case "AVRO" =>
      val sink = new AvroOutput
      structured(plan, sink, () => sink.reset(), () => sink.result())
    case "JSON" =>
      val sink = new JsonOutput
      structured(plan, sink, () => sink.reset(), () => sink.result())
    case KeyValueSchema.Type                          => KeyValueEncoder(plan)
    case "PROTOBUF_NATIVE" | ProtobufParsingInfo.Type => ProtobufEncoder(plan)
    case _ => throw SchemaTranslation.unsupported(plan.topicName, plan.schema)
  }

  private def structured(
      plan: WritePlan,
      sink: ValueOutput,
      reset: () => Unit,
      result: () => Array[Byte]
  ): ValueEncoder = {
    val schema   = SchemaTranslation.avroSchema(plan.topicName, plan.schema)
    val compiler = new ValueWriterCompiler(plan)
    if (schema.getType == Schema.Type.RECORD) {
      val record = compiler.record(schema, StructType(plan.values.map(plan.input(_))), plan.values.toArray)
      new ValueEncoder {
        override def encode(row: InternalRow): Array[Byte] = {
          reset()
          record.writeAll(row, sink)
          result()
        }
      }
    } else {
      val ordinal = single(plan)
      val value   = compiler.value(schema, plan.input(ordinal).dataType, SchemaTranslation.ValueColumn)
      new ValueEncoder {
        override def encode(row: InternalRow): Array[Byte] =
          if (row.isNullAt(ordinal)) null
          else {
            reset()
            value.write(row, ordinal, sink)
            result()
          }
      }
    }
  }

  /** The place of the only value column, which the reading side calls `value`, too. */
  private def single(plan: WritePlan): Int = plan.values match {
    case Seq(i) if plan.input(i).name == SchemaTranslation.ValueColumn => i
    case several                                                       =>
      val other = several.map(plan.input(_).name).find(_ != SchemaTranslation.ValueColumn).getOrElse(
        SchemaTranslation.ValueColumn
      )
      throw new Misfit(other,
        s"values are not records, so that there must be one value column, called ${SchemaTranslation.ValueColumn}")
  }
}
