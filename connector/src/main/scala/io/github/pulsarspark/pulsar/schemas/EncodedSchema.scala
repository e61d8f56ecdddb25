package io.github.pulsarspark.pulsar.schemas

import org.apache.pulsar.client.api.Schema
import org.apache.pulsar.common.schema.SchemaInfo

import io.github.pulsarspark.schema.TopicSchema

/** Registers the schema of messages at the broker, and sends bytes that are already encoded in it unchanged. */
private[pulsar] final class EncodedSchema private (info: SchemaInfo) extends Schema[Array[Byte]] {
  override def encode(message: Array[Byte]): Array[Byte] = message
  override def decode(bytes: Array[Byte]): Array[Byte]   = bytes
  override def getSchemaInfo: SchemaInfo                 = info
  override def clone(): Schema[Array[Byte]]              = new EncodedSchema(info)
}

private[pulsar] object EncodedSchema {
  def apply(schema: TopicSchema): Schema[Array[Byte]] = schema.schemaType match {
    case "BYTES" | "NONE" => Schema.BYTES
    case _                => new EncodedSchema(SchemaInfos.toSchemaInfo(schema, "pulsar-spark"))
  }
}
