package io.github.pulsarspark.schema

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.JsonNode
import com.fasterxml.jackson.databind.node.ObjectNode

/** A schema of Pulsar's registry, without client classes, so that it can be sent to tasks and kept with a checkpoint.
  *
  * @param schemaType
  *   Pulsar's name of the type: `AVRO`, `JSON`, `STRING`, `INT32`, `BYTES`, `NONE`, ...
  * @param definition
  *   schema text for AVRO and JSON (an Avro schema as JSON), empty for primitives
  * @param version
  *   version bytes as they stand in message metadata (8 bytes, big endian), empty when unknown
  * @param isPinned
  *   true when the definition is the user's
  * @param message
  *   of PROTOBUF, the message that the user describes, in the form of a definition of PROTOBUF_NATIVE
  * @param unversioned
  *   the schema of values without a version, if it is not this one
  */
final case class TopicSchema(
    schemaType: String,
    definition: String = "",
    properties: Map[String, String] = Map.empty,
    version: Seq[Byte] = Nil,
    isPinned: Boolean = false,
    message: Option[String] = None,
    unversioned: Option[TopicSchema] = None
) {

  /** True if values are read as bytes, whatever schema they were written with. */
  private[pulsarspark] def isReadAsBytes: Boolean = schemaType == "BYTES" || schemaType == "NONE"

  /** This schema as a version of the topic; a pinned schema has no version. */
  private[pulsarspark] def ofVersion(version: Seq[Byte]): TopicSchema = if (isPinned) this else copy(version = version)

  /** This schema without its version. */
  private[pulsarspark] def withoutVersion: TopicSchema =
    copy(version = Nil, unversioned = unversioned.map(_.withoutVersion))

  /** Writes type, definition and properties, for files that are kept. */
  private[pulsarspark] def writeTo(node: ObjectNode): Unit = {
    node.put("type", schemaType).put("definition", definition)
    val all = node.putObject("properties")
    properties.foreach { case (k, v) => all.put(k, v) }
  }
}

object TopicSchema {

  /** The schema to read and write a topic without a schema. */
  val Bytes: TopicSchema = TopicSchema("BYTES")

  /** Parses what [[TopicSchema.writeTo]] wrote. */
  private[pulsarspark] def readFrom(node: JsonNode): TopicSchema = TopicSchema(
    node.get("type").asText,
    node.get("definition").asText,
    node.get("properties").properties.asScala.map(e => e.getKey -> e.getValue.asText).toMap
  )
}
