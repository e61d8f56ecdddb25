package io.github.pulsarspark.schema.avro

import org.apache.avro.Schema
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.StructType

import io.github.pulsarspark.format.entry.MessageView
import io.github.pulsarspark.schema.ValueDecoder
import io.github.pulsarspark.schema.convert.MalformedValue

/** AVRO values: a record's fields are the columns, any other value is the column `value`. */
private[schema] object AvroDecoder {

  /** @param required
    *   requested value columns
    * @param ordinals
    *   where in the row each of them goes
    * @param skipped
    *   bytes before each value
    */
  def apply(
      writer: Schema,
      reader: Schema,
      required: StructType,
      ordinals: Array[Int],
      skipped: Int = 0
  ): ValueDecoder = {
    val in                      = new AvroInput
    def valueOf(m: MessageView) = {
      if (m.valueLength < skipped)
        throw new MalformedValue(s"the value has ${m.valueLength} bytes, fewer than the $skipped before it")
      in.reset(m.bytes, m.valueOffset + skipped, m.valueLength - skipped)
    }
    if (reader.getType == Schema.Type.RECORD)
      AvroReaderCompiler.compile(writer, reader, required) match {
        case record: AvroReader.Record =>
          val fields = record.atTop(ordinals)
          new ValueDecoder {
            override def decode(m: MessageView, row: InternalRow): Unit =
              fields.setAll(valueOf(m), row)
          }
        case other =>
          // A writer whose value is a union of records, or one that cannot be read at all.
          new ValueDecoder {
            override def decode(m: MessageView, row: InternalRow): Unit = {
              val record = other.value(valueOf(m)).asInstanceOf[InternalRow]
              var i      = 0
              while (i < ordinals.length) {
                row.update(ordinals(i), record.get(i, required(i).dataType))
                i += 1
              }
            }
          }
      }
    else {
      val value = AvroReaderCompiler.compile(writer, reader, required.head.dataType)
      new ValueDecoder {
        override def decode(m: MessageView, row: InternalRow): Unit =
          value.set(valueOf(m), row, ordinals(0))
      }
    }
  }
}
