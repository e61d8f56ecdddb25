package io.github.pulsarspark.schema.avro

import scala.util.control.NonFatal

import org.apache.spark.sql.types.StructType

import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.schema.convert.ColumnMismatch
import io.github.pulsarspark.schema.{TopicSchema, ValueColumns, ValueDecoder, ValueEncoder, WritePlan}

/** AVRO schemas. */
private[pulsarspark] object AvroFormat extends RecordFormat("AVRO") {

  override def decoder(
      topic: String,
      writer: TopicSchema,
      reader: TopicSchema,
      required: StructType,
      ordinals: Array[Int]
  ): ValueDecoder =
    AvroDecoder(written(topic, writer, reader), parsed(topic, reader), required, ordinals, bytesBefore(topic, writer))

  /** Connectors that run in Pulsar keep the five bytes that Confluent's serializers put before a value, and declare
    * them in a property of the schema. Source: `GenericAvroSchema.OFFSET_PROP` of the Pulsar client.
    */
  private def bytesBefore(topic: String, schema: TopicSchema): Int = {
    def wrong(n: String) =
      ValueColumns.notReadable(topic, schema, s"its property $OffsetProperty is `$n`, which is no number of bytes")
    schema.properties.get(OffsetProperty).fold(0)(n => n.toIntOption.filter(_ >= 0).getOrElse(throw wrong(n)))
  }

  private val OffsetProperty = "__AVRO_READ_OFFSET__"

  override def encoder(plan: WritePlan): ValueEncoder = {
    if (bytesBefore(plan.topicName, plan.schema) > 0)
      throw new ColumnMismatch(
        ValueColumns.Single,
        s"values of the topic begin with bytes of another serializer, which cannot be written: $OffsetProperty is in " +
          "the properties of its schema"
      )
    super.encoder(plan)
  }

  override protected def output(): RecordFormat.Output = new AvroOutput

  /** The schema of a topic with a definition of the user's to read it by. */
  def pinned(topic: String, own: TopicSchema, definition: String): TopicSchema = {
    def wrong(option: String, value: String, allowed: String) =
      Conditions.OptionInvalid(option = option, value = value, allowed = allowed).exception
    if (!converts(own.schemaType, "AVRO"))
      throw wrong("schemaMode", "pinned", s"auto or raw for topic $topic, whose schema is of type ${own.schemaType}")
    try AvroSchemas.parse(definition)
    catch { case NonFatal(e) => throw wrong("readerSchema", definition, s"an Avro schema as JSON; ${e.getMessage}") }
    own.copy(definition = definition, version = Nil, isPinned = true)
  }
}
