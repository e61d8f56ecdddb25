package io.github.pulsarspark.schema.rows

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.StructType

import io.github.pulsarspark.format.entry.MessageView
import io.github.pulsarspark.schema.avro.{AvroFormat, RecordFormat}
import io.github.pulsarspark.schema.convert.UnresolvableSchema
import io.github.pulsarspark.schema.json.JsonFormat
import io.github.pulsarspark.schema.keyvalue.{KeyValueFormat, KeyValueSchema}
import io.github.pulsarspark.schema.primitive.PrimitiveFormat
import io.github.pulsarspark.schema.protobuf.ProtobufFormat
import io.github.pulsarspark.schema.{SchemaFormat, SchemaFormats, TopicSchema, ValueColumns, ValueDecoder, ValueEncoder, WritePlan}

/** Pulsar's schemas as Spark types: the list of formats. Pure functions of their arguments. */
private[pulsarspark] object SchemaTranslation extends SchemaFormats {

  private val keyValue = new KeyValueFormat(this)

  /** Formats by schema type. To add a format, add its line here. */
  private val formats: Map[String, SchemaFormat] =
    Seq[SchemaFormat](PrimitiveFormat, AvroFormat, JsonFormat, ProtobufFormat, keyValue)
      .flatMap(format => format.schemaTypes.map(_ -> format))
      .toMap

  /** The format of a schema type, by its name in Pulsar. */
  private[schema] def format(schemaType: String): Option[SchemaFormat] = formats.get(schemaType)

  override def formatOf(topic: String, schema: TopicSchema): SchemaFormat =
    format(schema.schemaType).getOrElse(throw ValueColumns.unsupported(topic, schema))

  /** The value columns of a topic, all nullable because any message can be a tombstone. A record's fields are columns,
    * any other value is one column `value`.
    */
  def toStruct(topic: String, schema: TopicSchema): StructType = formatOf(topic, schema).columns(topic, schema)

  /** True if values consist of several columns: fields, or a key and a value. */
  private[pulsarspark] def hasFields(topic: String, schema: TopicSchema): Boolean =
    formatOf(topic, schema).hasFields(topic, schema)

  /** Fails when `required` has a field of a message that cannot be read. */
  def checkKnown(topic: String, schema: TopicSchema, required: StructType): Unit =
    formatOf(topic, schema).checkKnown(topic, schema, required)

  /** The schema of a topic with more fields at its end; left with the reason when there is none. Fails with
    * [[convert.ColumnMismatch]] for a column that no field can be.
    */
  def extended(topic: String, schema: TopicSchema, columns: StructType): Either[String, TopicSchema] =
    formatOf(topic, schema) match {
      case records: RecordFormat => records.extended(topic, schema, columns)
      case _                     => Left(s"values of type ${schema.schemaType} have no fields that could be added here")
    }

  override def decoder(
      topic: String,
      writer: TopicSchema,
      reader: TopicSchema,
      required: StructType,
      ordinals: Array[Int]
  ): ValueDecoder = {
    val own = formatOf(topic, reader)
    if (reader.isReadAsBytes) own.decoder(topic, writer, reader, required, ordinals)
    else {
      val format = this.format(writer.schemaType).filter(_.converts(writer.schemaType, reader.schemaType))
        .getOrElse(throw otherType(writer, reader))
      val decoder = format.decoder(topic, writer, reader, required, ordinals)
      if (format.hasEmptyValues(topic, writer)) decoder else new EmptyIsNull(decoder, ordinals)
    }
  }

  private def otherType(writer: TopicSchema, reader: TopicSchema) =
    new UnresolvableSchema(s"a value of type ${writer.schemaType} cannot be read as ${reader.schemaType}")

  /** Compiles the encoder of the values of a plan; fails with [[convert.ColumnMismatch]] when a column does not fit. */
  private[schema] def encoder(plan: WritePlan): ValueEncoder = formatOf(plan.topicName, plan.schema).encoder(plan)

  /** The encoder of the key of each message; None when the schema does not separate keys. */
  private[schema] def separateKey(plan: WritePlan): Option[ValueEncoder] =
    Option.when(plan.schema.schemaType == KeyValueSchema.Type)(plan).flatMap(keyValue.separateKey)

  override def merge(
      topic: String,
      known: TopicSchema,
      newest: TopicSchema
  ): Either[String, TopicSchema] = {
    val (was, is) = (known.schemaType, newest.schemaType)
    if (was == is && known.definition == newest.definition) Right(newest)
    else if (known.isReadAsBytes && newest.isReadAsBytes) Right(newest)
    else format(is) match {
      case Some(format) if format.converts(was, is) => format.merge(topic, known, newest)
      case _ if was == is                           => Right(newest)
      case _                                        => Left(s"values were of type $was and are of type $is")
    }
  }
}

/** Takes an empty payload for no value. */
private final class EmptyIsNull(decoder: ValueDecoder, ordinals: Array[Int]) extends ValueDecoder {
  override def decode(m: MessageView, row: InternalRow): Unit =
    if (m.valueLength > 0) decoder.decode(m, row) else ordinals.foreach(row.setNullAt)
}
