package io.github.pulsarspark.schema.json

import java.nio.charset.StandardCharsets.UTF_8

import io.github.pulsarspark.schema.TopicSchema
import io.github.pulsarspark.schema.rows.{Messages, Plain, SchemaTranslation}

/** JSON texts, read with a schema whose fields are written in a test. */
private[json] object JsonTexts {
  def json(fields: String) = TopicSchema("JSON", s"""{"type":"record","name":"R","fields":[$fields]}""")

  def read(schema: TopicSchema, value: String): Map[String, Any] =
    Plain.ofRow(Messages.decode(schema, value.getBytes(UTF_8)), SchemaTranslation.toStruct(Messages.topic, schema))

  def row(fields: (String, Any)*): Map[String, Any] = fields.toMap

  def one(fieldType: String, value: String): Any =
    read(json(s"""{"name":"x","type":$fieldType}"""), s"""{"x":$value}""")("x")

  def logical(base: String, name: String) = s"""{"type":"$base","logicalType":"$name"}"""
}
