package io.github.pulsarspark.schema

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.JsonNode
import com.fasterxml.jackson.databind.node.ObjectNode

/** A schema as Pulsar's registry holds it, free of client classes so that it can be sent to tasks and kept with a
  * checkpoint.
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
  *   of PROTOBUF, what the user says of its message, written like the definition of PROTOBUF_NATIVE
  * @param unversioned
  *   what values without a version are taken to be written with, where it is not this schema
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

  /** Whether it does not matter what values were written as. */
  private[pulsarspark] def isReadAsBytes: Boolean = schemaType == "BYTES" || schemaType == "NONE"

  /** The same schema, as this version of a topic's; one that the user gave has no version. */
  private[pulsarspark] def ofVersion(version: Seq[Byte]): TopicSchema = if (isPinned) this else copy(version = version)

  /** The same schema when nobody knows which version it is. */
  private[pulsarspark] def withoutVersion: TopicSchema =
    copy(version = Nil, unversioned = unversioned.map(_.withoutVersion))

  /** What it says, for texts that are kept; not where it is from. */
  private[pulsarspark] def writeTo(node: ObjectNode): Unit = {
    node.put("type", schemaType).put("definition", definition)
    val all = node.putObject("properties")
    properties.foreach { case (k, v) => all.put(k, v) }
  }
}

object TopicSchema {

  /** What a topic without a schema is read and written as. */
  val Bytes: TopicSchema = TopicSchema("BYTES")

  /** What [[TopicSchema.writeTo]] wrote. */
  private[pulsarspark] def readFrom(node: JsonNode): TopicSchema = TopicSchema(
    node.get("type").asText,
    node.get("definition").asText,
    node.get("properties").properties.asScala.map(e => e.getKey -> e.getValue.asText).toMap
  )
}
