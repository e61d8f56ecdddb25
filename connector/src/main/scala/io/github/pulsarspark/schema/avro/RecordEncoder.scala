package io.github.pulsarspark.schema.avro

import org.apache.avro.Schema
import org.apache.spark.sql.catalyst.InternalRow

import io.github.pulsarspark.schema.{ValueColumns, ValueEncoder, WritePlan}

/** Values by an Avro schema: records of the value columns, or of one column. */
private[avro] object RecordEncoder {

  def ofRecord(plan: WritePlan, schema: Schema, out: RecordFormat.Output): ValueEncoder = {
    val record = new ValueWriterCompiler(plan).record(schema, plan.valueColumns, plan.values.toArray)
    new ValueEncoder {
      override def encode(row: InternalRow): Array[Byte] = {
        out.reset()
        record.writeAll(row, out)
        out.result()
      }
    }
  }

  def ofValue(plan: WritePlan, schema: Schema, out: RecordFormat.Output): ValueEncoder = {
    val ordinal = plan.singleValue
    val value   = new ValueWriterCompiler(plan).value(schema, plan.input(ordinal).dataType, ValueColumns.Single)
    new ValueEncoder {
      override def encode(row: InternalRow): Array[Byte] =
        if (row.isNullAt(ordinal)) null
        else {
          out.reset()
          value.write(row, ordinal, out)
          out.result()
        }
    }
  }
}
