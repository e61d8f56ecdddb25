package io.github.pulsarspark.schema

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import com.fasterxml.jackson.databind.node.ObjectNode

/** A KEY_VALUE schema, which is two in one.
  *
  * @param separated
  *   true when the key travels as the key of the message, false when both are in its payload
  */
private[pulsarspark] final case class KeyValueSchema(key: TopicSchema, value: TopicSchema, separated: Boolean) {

  /** In one text, since what Pulsar's registry has for it are bytes. */
  def toTopicSchema(version: Seq[Byte] = Nil): TopicSchema = {
    val node = KeyValueSchema.mapper.createObjectNode().put("separated", separated)
    KeyValueSchema.write(node.putObject("key"), key)
    KeyValueSchema.write(node.putObject("value"), value)
    TopicSchema(KeyValueSchema.Type, node.toString, version = version)
  }
}

private[pulsarspark] object KeyValueSchema {
  val Type        = "KEY_VALUE"
  val KeyColumn   = "key"
  val ValueColumn = SchemaTranslation.ValueColumn

  private val mapper = new ObjectMapper

  def of(schema: TopicSchema): KeyValueSchema = {
    val node = mapper.readTree(schema.definition)
    KeyValueSchema(read(node.get("key"), schema.version), read(node.get("value"), schema.version), node.get("separated").asBoolean)
  }

  private def write(node: ObjectNode, part: TopicSchema): Unit = {
    node.put("type", part.schemaType).put("definition", part.definition)
    val properties = node.putObject("properties")
    part.properties.foreach { case (k, v) => properties.put(k, v) }
  }

  private def read(node: JsonNode, version: Seq[Byte]): TopicSchema =
    TopicSchema(
      node.get("type").asText,
      node.get("definition").asText,
      node.get("properties").properties.asScala.map(e => e.getKey -> e.getValue.asText).toMap,
      version
    )
}
