package io.github.pulsarspark.schema.protobuf

import java.nio.charset.StandardCharsets.UTF_8

import scala.util.Random

import org.apache.pulsar.client.impl.schema.ProtobufNativeSchemaUtils

import io.github.pulsarspark.fuzz.FuzzTarget
import io.github.pulsarspark.schema.TopicSchema
import io.github.pulsarspark.schema.rows.{Messages, Plain, ProtobufGenerators, SchemaTranslation}

/** PROTOBUF_NATIVE values of many messages; the first byte of an input selects one. */
object ProtobufValueFuzz extends FuzzTarget {

  private val generated = Seq.tabulate(40) { n =>
    val generators = new ProtobufGenerators(new Random(n.toLong))
    val message    = generators.message()
    val schema     = TopicSchema("PROTOBUF_NATIVE", new String(ProtobufNativeSchemaUtils.serialize(message), UTF_8))
    (schema, SchemaTranslation.toStruct(Messages.topic, schema), generators.value(message).toByteArray)
  }

  override def seeds: Seq[Array[Byte]] = generated.zipWithIndex.map { case ((_, _, value), i) => i.toByte +: value }

  override def decode(bytes: Array[Byte]): Any = {
    val (schema, columns, _) = generated((bytes.headOption.fold(0)(_.toInt) & 0xff) % generated.size)
    Plain.ofRow(Messages.decoder(schema, columns).decode(Messages.of(bytes.drop(1))), columns)
  }
}
