package io.github.pulsarspark.schema.rows

import java.nio.charset.StandardCharsets.UTF_8

import scala.util.Random

import org.apache.pulsar.client.impl.schema.ProtobufNativeSchemaUtils

import io.github.pulsarspark.fuzz.TextFuzzTarget
import io.github.pulsarspark.schema.TopicSchema
import io.github.pulsarspark.schema.keyvalue.KeyValueSchema

/** Schemas as a registry has them: the type, a line break, the definition. The columns are those of a table, and an
  * empty value is decoded.
  */
object SchemaTextFuzz extends TextFuzzTarget {
  private val record =
    """{"type":"record","name":"R","fields":[{"name":"a","type":["null",{"type":"array","items":{"type":"map",
      |"values":"int"}}],"default":null},{"name":"t","type":{"type":"long","logicalType":"timestamp-micros"}},{"name":"e",
      |"type":{"type":"enum","name":"E","symbols":["X","Y"]}},{"name":"c","type":{"type":"fixed","name":"F","size":3,
      |"logicalType":"decimal","precision":5,"scale":2}}]}""".stripMargin

  private def native = new String(
    ProtobufNativeSchemaUtils.serialize(new ProtobufGenerators(new Random(3)).message()),
    UTF_8
  )

  private def keyValue(separated: Boolean) =
    KeyValueSchema(TopicSchema("STRING"), TopicSchema("AVRO", record), separated).toTopicSchema()

  override def texts: Seq[String] =
    Seq("AVRO", "JSON").map(kind => s"$kind\n$record") ++ Seq(s"PROTOBUF_NATIVE\n$native", "INT32\n",
      s"KEY_VALUE\n${keyValue(separated = false).definition}")

  override def decode(text: String): Any = {
    val (kind, rest) = text.span(_ != '\n')
    val properties   = if (kind == "KEY_VALUE") keyValue(text.length % 2 == 0).properties else Map.empty[String, String]
    val schema       = TopicSchema(kind, rest.drop(1), properties)
    val columns      = SchemaTranslation.toStruct(Messages.topic, schema)
    val row          =
      try Plain.ofRow(Messages.decoder(schema, columns).decode(Messages.of(Array.emptyByteArray)), columns)
      catch { case e: io.github.pulsarspark.errors.PulsarError => e.condition }
    columns.sql -> row
  }
}
