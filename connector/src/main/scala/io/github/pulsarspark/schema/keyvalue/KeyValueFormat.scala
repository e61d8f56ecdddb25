package io.github.pulsarspark.schema.keyvalue

import org.apache.spark.sql.types._

import io.github.pulsarspark.schema.keyvalue.KeyValueSchema.{KeyColumn, ValueColumn}
import io.github.pulsarspark.schema.{SchemaFormat, SchemaFormats, TopicSchema, ValueColumns, ValueDecoder, ValueEncoder, WritePlan}

/** KEY_VALUE schemas: two columns, `key` and `value`; records are structs.
  *
  * @param formats
  *   those of keys and values
  */
private[schema] final class KeyValueFormat(formats: SchemaFormats) extends SchemaFormat {

  override val schemaTypes: Set[String] = Set(KeyValueSchema.Type)

  override def columns(topic: String, schema: TopicSchema): StructType = {
    val both = parts(topic, schema)
    StructType(Seq(part(topic, KeyColumn, both.key), part(topic, ValueColumn, both.value)))
  }

  private def parts(topic: String, schema: TopicSchema) = ValueColumns.reading(topic, schema)(KeyValueSchema.of(schema))

  private def part(topic: String, name: String, schema: TopicSchema): StructField = {
    if (schema.schemaType == KeyValueSchema.Type) throw ValueColumns.unsupported(topic, schema)
    StructField(name, formats.toType(topic, schema))
  }

  override def isRecord(topic: String, schema: TopicSchema): Boolean = false

  override def hasFields(topic: String, schema: TopicSchema): Boolean = true

  override def decoder(
      topic: String,
      writer: TopicSchema,
      reader: TopicSchema,
      required: StructType,
      ordinals: Array[Int]
  ): ValueDecoder = new KeyValueDecoder.Maker(topic, formats, required, ordinals)
    .decoder(parts(topic, writer), parts(topic, reader))

  /** True: a message without a value may have a key. */
  override def takesTombstones: Boolean = true

  /** The key of separated ones is elsewhere; the empty value is a matter of its own format. */
  override def hasEmptyValues(topic: String, writer: TopicSchema): Boolean = parts(topic, writer).separated

  override def encoder(plan: WritePlan): ValueEncoder = new KeyValueEncoder(plan, formats).payload()

  /** Writes the key of the message, for a separated schema. */
  def separateKey(plan: WritePlan): Option[ValueEncoder] = new KeyValueEncoder(plan, formats).separateKey()

  override def fromColumns(plan: WritePlan, schemaType: String): Either[String, TopicSchema] =
    Right(KeyValueEncoder.schemaOf(plan, KeyValueChoice()))

  override def merge(topic: String, known: TopicSchema, newest: TopicSchema): Either[String, TopicSchema] = {
    val (was, is) = (parts(topic, known), parts(topic, newest))
    for {
      key   <- formats.merge(topic, was.key, is.key).left.map(d => s"of the key, $d")
      value <- formats.merge(topic, was.value, is.value).left.map(d => s"of the value, $d")
    } yield if (key == is.key && value == is.value) newest else is.copy(key = key, value = value).toTopicSchema()
  }
}
