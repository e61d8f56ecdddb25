package io.github.pulsarspark.client

import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8

import scala.jdk.CollectionConverters._

import org.apache.pulsar.client.impl.schema.SchemaInfoImpl
import org.apache.pulsar.common.schema.{SchemaInfo, SchemaType}

import io.github.pulsarspark.schema.TopicSchema

/** Pulsar's schema description <-> ours. */
private[client] object SchemaInfos {

  def toTopicSchema(info: SchemaInfo, version: Array[Byte]): TopicSchema =
    TopicSchema(
      info.getType.name,
      new String(info.getSchema, UTF_8),
      Option(info.getProperties).fold(Map.empty[String, String])(_.asScala.toMap),
      version.toSeq
    )

  def toSchemaInfo(schema: TopicSchema, name: String): SchemaInfo =
    SchemaInfoImpl
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
