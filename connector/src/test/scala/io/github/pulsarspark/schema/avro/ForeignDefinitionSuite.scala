package io.github.pulsarspark.schema.avro

import io.github.pulsarspark.UnitSuite

class ForeignDefinitionSuite extends UnitSuite {

  for (
    (definition, kind) <- Seq(
      " "                           -> "empty",
      "{"                           -> "not JSON",
      """{"$schema":"x"}"""         -> "JSON Schema",
      """{"properties":{"a":{}}}""" -> "JSON Schema",
      """{"type":"object"}"""       -> "JSON Schema",
      """{"type":"what"}"""         -> "JSON of another kind",
      "[1]"                         -> "JSON of another kind"
    )
  ) test(s"the definition '$definition' is named: $kind") {
    assertEquals(ForeignDefinition.reason(definition), s"its definition is $kind, and no schema of Avro")
  }
}
