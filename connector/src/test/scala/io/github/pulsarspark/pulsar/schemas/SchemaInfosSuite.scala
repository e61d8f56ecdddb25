package io.github.pulsarspark.pulsar.schemas

import org.apache.pulsar.client.api.Schema
import org.apache.pulsar.common.schema.SchemaType

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.schema.TopicSchema
import io.github.pulsarspark.schema.keyvalue.KeyValueSchema

/** Schemas as the client has them and as the connector has them: [[SchemaInfos]] and [[EncodedSchema]]. */
class SchemaInfosSuite extends UnitSuite {

  private val json    = TopicSchema("JSON", """{"type":"int"}""", Map("a" -> "ä"))
  private val version = Array[Byte](0, 0, 0, 0, 0, 0, 0, 7)

  private def back(schema: TopicSchema) = SchemaInfos.toTopicSchema(SchemaInfos.toSchemaInfo(schema, "n"), version)

  test("a schema keeps its type, definition and properties, and gets the version that the cluster reports") {
    assertEquals(back(json), json.ofVersion(version.toSeq))
    assertEquals(SchemaInfos.toSchemaInfo(json, "n").getName, "n")
  }

  for (separated <- Seq(true, false))
    test(s"a key and a value keep their schemas and their encoding, separated $separated") {
      val pair  = KeyValueSchema(TopicSchema("STRING"), json, separated).toTopicSchema()
      val found = KeyValueSchema.of(back(pair))
      assertEquals((found.key.schemaType, found.value.definition, found.value.properties, found.separated),
        ("STRING", json.definition, json.properties, separated))
    }

  test("a version is a number, or its bytes") {
    assertEquals(SchemaInfos.versionText(version), "7")
    assertEquals(SchemaInfos.versionText(Array[Byte](-1, 2)), "ff02")
    assertEquals(SchemaInfos.versionText(Array.emptyByteArray), "")
  }

  test("bytes that are encoded already are sent as they are, under the schema of the topic") {
    val schema = EncodedSchema(json)
    val bytes  = Array[Byte](1, 2)
    assert(schema.encode(bytes) eq bytes)
    assert(schema.decode(bytes) eq bytes)
    assertEquals(schema.getSchemaInfo.getType, SchemaType.JSON)
    Seq("BYTES", "NONE").foreach(kind => assert(EncodedSchema(TopicSchema(kind)) eq Schema.BYTES, kind))
  }
}
