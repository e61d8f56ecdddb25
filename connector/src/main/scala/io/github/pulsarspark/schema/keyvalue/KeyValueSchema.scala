package io.github.pulsarspark.schema.keyvalue

import scala.util.control.NonFatal

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}

import io.github.pulsarspark.schema.convert.UnsupportedSchema
import io.github.pulsarspark.schema.{TopicSchema, ValueColumns}

/** A KEY_VALUE schema, which is two in one.
  *
  * @param separated
  *   true when the key travels as the key of the message, false when both are in its payload
  */
private[pulsarspark] final case class KeyValueSchema(key: TopicSchema, value: TopicSchema, separated: Boolean) {

  /** Returns the schema with one text as its definition; Pulsar's registry holds bytes. */
  def toTopicSchema(version: Seq[Byte] = Nil): TopicSchema = {
    val node = KeyValueSchema.mapper.createObjectNode().put("separated", separated)
    key.writeTo(node.putObject("key"))
    value.writeTo(node.putObject("value"))
    TopicSchema(KeyValueSchema.Type, node.toString, version = version)
  }
}

private[pulsarspark] object KeyValueSchema {
  val Type        = "KEY_VALUE"
  val KeyColumn   = "key"
  val ValueColumn = ValueColumns.Single

  private val mapper = new ObjectMapper

  /** Fails with `UnsupportedSchema` for a definition of something else. */
  def of(schema: TopicSchema): KeyValueSchema =
    try {
      val node = mapper.readTree(schema.definition)
      KeyValueSchema(part(node, "key", schema), part(node, "value", schema), node.get("separated").asBoolean)
    } catch {
      case NonFatal(_) => throw new UnsupportedSchema("", "its definition is not that of a key and a value")
    }

  private def part(node: JsonNode, name: String, whole: TopicSchema): TopicSchema =
    TopicSchema.readFrom(node.get(name)).copy(version = whole.version)
}
