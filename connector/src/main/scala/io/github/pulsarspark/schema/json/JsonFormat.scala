package io.github.pulsarspark.schema.json

import org.apache.avro.Schema
import org.apache.spark.sql.types._

import io.github.pulsarspark.schema.avro.RecordFormat
import io.github.pulsarspark.schema.columns.Nullability
import io.github.pulsarspark.schema.{TopicSchema, ValueDecoder}

/** JSON schemas, which are described in Avro's terms. */
private[schema] object JsonFormat extends RecordFormat("JSON") {

  override def decoder(
      topic: String,
      writer: TopicSchema,
      reader: TopicSchema,
      required: StructType,
      ordinals: Array[Int]
  ): ValueDecoder = JsonDecoder(written(topic, writer, reader), parsed(topic, reader), required, ordinals)

  override protected def output(): RecordFormat.Output = new JsonOutput

  /** Makes all fields nullable. Nothing checks JSON when it is written, and Java's writer omits nulls, so any field may
    * be absent.
    */
  override protected def typeOf(schema: Schema): DataType = Nullability.relaxed(super.typeOf(schema))
}
