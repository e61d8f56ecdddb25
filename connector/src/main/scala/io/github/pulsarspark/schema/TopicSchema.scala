package io.github.pulsarspark.schema

/** A schema as Pulsar's registry holds it, free of client classes so that it can be sent to tasks and kept with a checkpoint.
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
  */
final case class TopicSchema(
    schemaType: String,
    definition: String = "",
    properties: Map[String, String] = Map.empty,
    version: Seq[Byte] = Nil,
    isPinned: Boolean = false,
    message: Option[String] = None
)

object TopicSchema {

  /** What a topic without a schema is read and written as. */
  val Bytes: TopicSchema = TopicSchema("BYTES")
}
