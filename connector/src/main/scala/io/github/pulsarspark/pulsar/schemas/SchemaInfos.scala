package io.github.pulsarspark.pulsar.schemas

import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8

import scala.jdk.CollectionConverters._

import org.apache.pulsar.client.impl.schema.{KeyValueSchemaInfo, SchemaInfoImpl}
import org.apache.pulsar.common.schema.{KeyValueEncodingType, SchemaInfo, SchemaType}

import io.github.pulsarspark.schema.TopicSchema
import io.github.pulsarspark.schema.keyvalue.KeyValueSchema

/** Pulsar's schema description <-> ours. */
private[pulsar] object SchemaInfos {

  def toTopicSchema(info: SchemaInfo, version: Array[Byte]): TopicSchema =
    if (info.getType == SchemaType.KEY_VALUE) {
      val parts     = KeyValueSchemaInfo.decodeKeyValueSchemaInfo(info)
      val separated = KeyValueSchemaInfo.decodeKeyValueEncodingType(info) == KeyValueEncodingType.SEPARATED
      KeyValueSchema(toTopicSchema(parts.getKey, version), toTopicSchema(parts.getValue, version),
        separated).toTopicSchema(version.toSeq)
    } else TopicSchema(
      info.getType.name,
      new String(info.getSchema, UTF_8),
      Option(info.getProperties).fold(Map.empty[String, String])(_.asScala.toMap),
      version.toSeq
    )

  def toSchemaInfo(schema: TopicSchema, name: String): SchemaInfo =
    if (schema.schemaType == KeyValueSchema.Type) {
      val parts    = KeyValueSchema.of(schema)
      val encoding = if (parts.separated) KeyValueEncodingType.SEPARATED else KeyValueEncodingType.INLINE
      KeyValueSchemaInfo.encodeKeyValueSchemaInfo(
        name,
        toSchemaInfo(parts.key, s"$name-key"),
        toSchemaInfo(parts.value, s"$name-value"),
        encoding
      )
    } else SchemaInfoImpl
      .builder()
      .name(name)
      .`type`(SchemaType.valueOf(schema.schemaType))
      .schema(schema.definition.getBytes(UTF_8))
      .properties(schema.properties.asJava)
      .build()

  /** Version bytes as people know them, a number. */
  def versionText(version: Array[Byte]): String =
    if (version.length == 8) ByteBuffer.wrap(version).getLong.toString else version.map(b => f"$b%02x").mkString
}
