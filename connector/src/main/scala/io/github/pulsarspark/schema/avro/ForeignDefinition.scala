package io.github.pulsarspark.schema.avro

import scala.util.Try

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}

/** Describes a definition that Avro does not read. Clients of Rust and Go and old Java clients register JSON Schema,
  * and brokers may be told not to check definitions. Pure.
  */
private[avro] object ForeignDefinition {

  private val mapper = new ObjectMapper

  def reason(definition: String): String = s"its definition is ${kind(definition)}, and no schema of Avro"

  private def kind(definition: String): String =
    if (definition.trim.isEmpty) "empty"
    else
      Try(mapper.readTree(definition)).toOption.fold("not JSON") { node =>
        if (isJsonSchema(node)) "JSON Schema" else "JSON of another kind"
      }

  private def isJsonSchema(node: JsonNode): Boolean =
    node.has("$schema") || node.has("properties") || node.path("type").asText == "object"
}
