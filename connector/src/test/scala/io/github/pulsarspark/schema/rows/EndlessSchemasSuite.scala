package io.github.pulsarspark.schema.rows

import java.nio.charset.StandardCharsets.UTF_8

import scala.concurrent.duration._

import com.google.protobuf.DescriptorProtos.{DescriptorProto, FieldDescriptorProto, FileDescriptorProto}
import com.google.protobuf.Descriptors.FileDescriptor
import org.apache.pulsar.client.impl.schema.ProtobufNativeSchemaUtils
import org.apache.spark.sql.types.{StructField, StructType}

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.errors.PulsarError
import io.github.pulsarspark.schema.TopicSchema
import io.github.pulsarspark.schema.keyvalue.KeyValueSchema

/** Short definitions that describe more than any memory holds: named errors, at once. */
class EndlessSchemasSuite extends UnitSuite {
  override def munitTimeout: Duration = 1.minute

  /** A union of records, each of which has fields of the one before it. */
  private def records(count: Int, fields: Int) = (0 until count).map { n =>
    val of = if (n == 0) "\"int\"" else s"\"R${n - 1}\""
    s"""{"type":"record","name":"R$n","fields":[${(0 until fields).map(f => s"""{"name":"f$f","type":$of}""").mkString(
        ","
      )}]}"""
  }.mkString("[", ",", "]")

  private def message(count: Int, fields: Int): TopicSchema = {
    val file = FileDescriptorProto.newBuilder.setName("a.proto").setSyntax("proto3")
    for (n <- 0 to count) {
      val one = DescriptorProto.newBuilder.setName(s"M$n")
      for (f <- 1 to fields) {
        val field = FieldDescriptorProto.newBuilder.setName(s"f$f").setNumber(f)
        one.addField(
          if (n == 0) field.setType(FieldDescriptorProto.Type.TYPE_INT32)
          else field.setType(FieldDescriptorProto.Type.TYPE_MESSAGE).setTypeName(s".M${n - 1}")
        )
      }
      file.addMessageType(one)
    }
    val last = FileDescriptor.buildFrom(file.build, Array.empty[FileDescriptor]).findMessageTypeByName(s"M$count")
    TopicSchema("PROTOBUF_NATIVE", new String(ProtobufNativeSchemaUtils.serialize(last), UTF_8))
  }

  private def refused(schema: TopicSchema, reason: String)(implicit loc: munit.Location): Unit = {
    val error =
      intercept[RuntimeException with PulsarError](SchemaTranslation.toStruct(Messages.topic, schema))
    assertEquals(error.condition, "PULSAR_SCHEMA_NOT_READABLE")
    assert(error.getMessage.contains(reason), error.getMessage.take(500))
  }

  private val tooMany = "it has more than 100000 columns"
  private val tooDeep = "it is nested more than 200 levels deep"

  test("records of two fields of records of two fields, 40 times: refused by name") {
    for (kind <- Seq("AVRO", "JSON")) refused(TopicSchema(kind, records(40, 2)), tooMany)
    refused(message(40, 2), tooMany)
    val pair = KeyValueSchema(TopicSchema("STRING"), TopicSchema("AVRO", records(40, 2)), separated = true)
    refused(pair.toTopicSchema(), tooMany)
  }

  test("records of a record, 1,000 times: refused by name, and no stack is full") {
    for (kind <- Seq("AVRO", "JSON")) refused(TopicSchema(kind, records(1000, 1)), tooDeep)
    refused(message(1000, 1), tooDeep)
  }

  test("as many columns and levels as anyone has are read") {
    val schema = TopicSchema("AVRO", records(100, 1))
    assertEquals(SchemaTranslation.toStruct(Messages.topic, schema).size, 1)
    assertEquals(SchemaTranslation.toStruct(Messages.topic, message(100, 1)).size, 1)
  }

  test("a record that contains itself, written by nobody, is no empty value; many empty records are one") {
    val itself  = """{"type":"record","name":"R","fields":[{"name":"r","type":"R"}]}"""
    val nothing = (0 to 60).foldLeft("\"null\"") { (inner, n) =>
      val again = if (n == 0) inner else s"\"E${n - 1}\""
      s"""{"type":"record","name":"E$n","fields":[{"name":"a","type":$inner},{"name":"b","type":$again}]}"""
    }
    val reader = TopicSchema("AVRO",
      """{"type":"record","name":"R","fields":[{"name":"n","type":["null","int"],"default":null}]}""")
    def decoded(definition: String) =
      SchemaTranslation.decoder(Messages.topic, TopicSchema("AVRO", definition), reader,
        StructType(Seq.empty[StructField]), Array.emptyIntArray)
    assert(decoded(itself) != null)
    assert(decoded(nothing) != null)
  }
}
