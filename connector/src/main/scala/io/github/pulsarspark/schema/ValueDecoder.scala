package io.github.pulsarspark.schema

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.StructType

import io.github.pulsarspark.format.entry.MessageView
import io.github.pulsarspark.schema.avro.AvroDecoder
import io.github.pulsarspark.schema.convert.UnresolvableSchema
import io.github.pulsarspark.schema.json.JsonDecoder
import io.github.pulsarspark.schema.keyvalue.{KeyValueDecoder, KeyValueSchema}
import io.github.pulsarspark.schema.primitive.PrimitiveDecoder
import io.github.pulsarspark.schema.protobuf.{ProtobufDecoder, ProtobufParsingInfo}

/** Puts the value of a message into the value columns of a row. Only called for messages that have one, but for those
  * who say so (`takesTombstones`).
  */
private[schema] abstract class ValueDecoder {

  /** Fails with any exception when the bytes are not what they should be; the row is not used then. */
  def decode(m: MessageView, row: InternalRow): Unit
}

private[schema] object ValueDecoder {

  /** What makes the decoder for each schema that values were written with. */
  def compiler(
      topic: String,
      reader: TopicSchema,
      wanted: StructType,
      ordinals: Array[Int]
  ): TopicSchema => ValueDecoder =
    reader.schemaType match {
      case schemaType if SchemaTranslation.primitive(schemaType).isDefined =>
        val decoder = PrimitiveDecoder(schemaType, ordinals.headOption.getOrElse(0))
        writer =>
          if (isReadAsBytes(reader) || writer.schemaType == schemaType) decoder else throw otherType(writer, reader)
      case "AVRO" | "JSON" =>
        lazy val readerSchema = SchemaTranslation.avroSchema(topic, reader)
        writer =>
          writer.schemaType match {
            case "AVRO" => AvroDecoder(SchemaTranslation.avroSchema(topic, writer), readerSchema, wanted, ordinals)
            case "JSON" => JsonDecoder(SchemaTranslation.avroSchema(topic, writer), readerSchema, wanted, ordinals)
            case _      => throw otherType(writer, reader)
          }
      case "PROTOBUF_NATIVE" | ProtobufParsingInfo.Type =>
        lazy val declared = SchemaTranslation.declaredMessage(topic, reader)
        lazy val message  = SchemaTranslation.message(topic, reader, wanted.fieldNames.toSeq)
        writer =>
          if (writer.schemaType != reader.schemaType) throw otherType(writer, reader)
          else ProtobufDecoder(SchemaTranslation.declaredMessage(topic, writer), declared, message, wanted, ordinals)
      case KeyValueSchema.Type =>
        val compile = KeyValueDecoder.compiler(topic, reader, wanted, ordinals)
        writer => if (writer.schemaType == KeyValueSchema.Type) compile(writer) else throw otherType(writer, reader)
      case _ => throw SchemaTranslation.unsupported(topic, reader)
    }

  /** Whether values read with this schema may point into the bytes of the message; those without texts are copied or
    * numbers.
    */
  def refersToBytes(reader: TopicSchema): Boolean =
    reader.schemaType == "STRING" || SchemaTranslation.primitive(reader.schemaType).isEmpty

  /** Whether a message without a value has something to decode all the same, which is its key. */
  def takesTombstones(reader: TopicSchema): Boolean = reader.schemaType == KeyValueSchema.Type

  /** Then it does not matter what it was written as. */
  def isReadAsBytes(reader: TopicSchema): Boolean = reader.schemaType == "BYTES" || reader.schemaType == "NONE"

  private def otherType(writer: TopicSchema, reader: TopicSchema) =
    new UnresolvableSchema(s"a value of type ${writer.schemaType} cannot be read as ${reader.schemaType}")
}
