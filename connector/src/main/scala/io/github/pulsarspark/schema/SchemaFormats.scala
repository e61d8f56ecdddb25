package io.github.pulsarspark.schema

import org.apache.spark.sql.types.{DataType, StructType}

/** Returns the format of a schema, also to formats whose values consist of others. */
private[pulsarspark] trait SchemaFormats {

  /** Fails with `PULSAR_SCHEMA_TYPE_NOT_SUPPORTED`. */
  def formatOf(topic: String, schema: TopicSchema): SchemaFormat

  /** A value of a topic as one column: one with fields is a struct. */
  def toType(topic: String, schema: TopicSchema): DataType = {
    val format  = formatOf(topic, schema)
    val columns = format.columns(topic, schema)
    if (format.hasFields(topic, schema)) columns else columns.head.dataType
  }

  /** Like [[SchemaFormat.decoder]], but for schemas of any types. */
  def decoder(
      topic: String,
      writer: TopicSchema,
      reader: TopicSchema,
      required: StructType,
      ordinals: Array[Int]
  ): ValueDecoder

  /** Like [[SchemaFormat.merge]], but for schemas of any types. */
  def merge(topic: String, known: TopicSchema, newest: TopicSchema): Either[String, TopicSchema]
}
