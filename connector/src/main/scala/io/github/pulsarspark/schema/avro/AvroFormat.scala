package io.github.pulsarspark.schema.avro

import scala.util.control.NonFatal

import org.apache.spark.sql.types.StructType

import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.schema.{TopicSchema, ValueDecoder}

/** AVRO schemas. */
private[pulsarspark] object AvroFormat extends RecordFormat("AVRO") {

  override def decoder(
      topic: String,
      writer: TopicSchema,
      reader: TopicSchema,
      required: StructType,
      ordinals: Array[Int]
  ): ValueDecoder = AvroDecoder(parsed(topic, writer), parsed(topic, reader), required, ordinals)

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
