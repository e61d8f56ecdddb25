package io.github.pulsarspark.schema.protobuf

import java.nio.charset.StandardCharsets.UTF_8

import scala.jdk.CollectionConverters._
import scala.util.Random

import com.fasterxml.jackson.databind.ObjectMapper
import com.google.protobuf.{Field, Type => ProtobufType}
import com.google.protobuf.DescriptorProtos.{FieldDescriptorProto, FileDescriptorSet}
import com.google.protobuf.Descriptors.{Descriptor, FieldDescriptor, FileDescriptor}
import org.apache.avro.protobuf.ProtobufData
import org.apache.pulsar.client.impl.schema.{ProtobufNativeSchemaUtils, ProtobufSchema}
import org.apache.spark.sql.types._
import org.scalacheck.Gen
import org.scalacheck.Prop.forAll

import io.github.pulsarspark.PropertySuite
import io.github.pulsarspark.errors.PulsarError
import io.github.pulsarspark.schema.TopicSchema
import io.github.pulsarspark.schema.rows.{Messages, Plain, ProtobufGenerators, RowEncoder, SchemaTranslation, WritePlanner}

/** Compares PROTOBUF with PROTOBUF_NATIVE, which has its own tests and is the oracle. */
class ProtobufParsingInfoSuite extends PropertySuite(200) {

  private val seeds  = Gen.choose(0L, Long.MaxValue)
  private val mapper = new ObjectMapper

  private def native(message: Descriptor) =
    TopicSchema("PROTOBUF_NATIVE", new String(ProtobufNativeSchemaUtils.serialize(message), UTF_8))

  /** Schema as the client derives it from a class. */
  private def parsed(message: Descriptor) = {
    val list = mapper.createArrayNode
    message.getFields.asScala.foreach { f =>
      val label = f.toProto.getLabel.name
      list.addObject.put("number", f.getNumber).put("name", f.getName).put("type", f.getType.name).put("label",
        label).putNull("definition")
    }
    TopicSchema("PROTOBUF", ProtobufData.get.getSchema(message).toString, Map("__PARSING_INFO__" -> list.toString))
  }

  private def files(message: Descriptor): Array[Byte] = {
    def all(file: FileDescriptor): Seq[FileDescriptor] = file.getDependencies.asScala.toSeq.flatMap(all) :+ file
    val set                                            = FileDescriptorSet.newBuilder
    all(message.getFile).distinct.foreach(f => set.addFile(f.toProto))
    set.build.toByteArray
  }

  private def described(schema: TopicSchema, message: Descriptor, name: String = "p.M") =
    ProtobufFormat.described(Messages.topic, schema, "a.desc", files(message), name)

  private def columns(schema: TopicSchema) = SchemaTranslation.toStruct(Messages.topic, schema)

  private def isScalar(f: FieldDescriptor) =
    f.getJavaType != FieldDescriptor.JavaType.MESSAGE && f.getJavaType != FieldDescriptor.JavaType.ENUM

  property("with its descriptor it is read and written like PROTOBUF_NATIVE") {
    forAll(seeds) { seed =>
      val generators = new ProtobufGenerators(new Random(seed))
      val message    = generators.message()
      val schema     = described(parsed(message), message)
      val table      = columns(schema)
      assertEquals(table, columns(native(message)))
      val decoders = Seq(schema, native(message)).map(Messages.decoder(_, table))
      val encoders =
        Seq(schema, native(message)).map(s =>
          new RowEncoder(WritePlanner(table, Some(Messages.topic), Some(s), "auto"))
        )
      (0 until 5).foreach { _ =>
        val value = generators.value(message).toByteArray
        val rows  = decoders.map(d => d.decode(Messages.of(value)).copy())
        assertEquals[Any, Any](Plain.ofRow(rows.head, table), Plain.ofRow(rows.last, table))
        assertEquals(encoders.head.encode(rows.head).value.toVector, encoders.last.encode(rows.last).value.toVector)
      }
    }
  }

  property("without a descriptor only its simple fields are read and written") {
    forAll(seeds) { seed =>
      val generators      = new ProtobufGenerators(new Random(seed))
      val message         = generators.message()
      val schema          = parsed(message)
      val (simple, other) = message.getFields.asScala.toSeq.partition(isScalar)
      val all             = columns(native(message))
      val some            = StructType(simple.map(f => all(f.getName)))
      assertEquals(columns(schema).fieldNames.toSeq, all.fieldNames.toSeq)
      simple.foreach(f => assertEquals(columns(schema)(f.getName).dataType, all(f.getName).dataType))
      other.foreach { f =>
        val wanted = some.add(columns(schema)(f.getName))
        unknown(f.getName)(Messages.decoder(schema, wanted))
        unknown(f.getName)(SchemaTranslation.checkKnown(Messages.topic, schema, wanted))
        unknown(f.getName)(WritePlanner(wanted, Some(Messages.topic), Some(schema), "auto"))
      }
      if (simple.nonEmpty) {
        val (decoder, whole) = (Messages.decoder(schema, some), Messages.decoder(native(message), some))
        val encoder          = new RowEncoder(WritePlanner(some, Some(Messages.topic), Some(schema), "auto"))
        (0 until 5).foreach { _ =>
          val value    = generators.value(message).toByteArray
          val row      = decoder.decode(Messages.of(value)).copy()
          val read     = Plain.ofRow(row, some)
          val expected = Plain.ofRow(whole.decode(Messages.of(value)), some)
          some.fieldNames.foreach(n =>
            assert(read(n) == expected(n) || (expected(n) == null && isNothing(read(n))), s"$n: $read, $expected")
          )
          assertEquals[Any, Any](Plain.ofRow(decoder.decode(Messages.of(encoder.encode(row).value)), some), read)
        }
      }
    }
  }

  private def isNothing(value: Any) =
    Set[Any](null, false, 0, 0L, "", Vector.empty, Plain.Bits(0), java.math.BigDecimal.ZERO)(value)

  private def unknown(field: String)(body: => Any)(implicit loc: munit.Location): Unit = {
    val error = intercept[RuntimeException](body)
    assert(error.getMessage.startsWith(s"[PULSAR_PROTOBUF_FIELD_UNKNOWN] The column `$field` of topic "),
      error.getMessage)
  }

  test("schemas of the Java client are read") {
    val info   = ProtobufSchema.of(classOf[ProtobufType]).getSchemaInfo
    val schema = TopicSchema("PROTOBUF", new String(info.getSchema, UTF_8), info.getProperties.asScala.toMap)
    parsed(ProtobufType.getDescriptor).properties.foreach { case (name, value) =>
      assertEquals(schema.properties.get(name), Some(value))
    }
    val some  = StructType(Seq("name", "oneofs").map(columns(schema)(_)))
    val value = ProtobufType.newBuilder.setName("n").addOneofs("x").addFields(Field.newBuilder.setName("f")).build
    val plain = Map("name" -> "n", "oneofs" -> Vector("x"))
    assertEquals[Any, Any](Plain.ofRow(Messages.decoder(schema, some).decode(Messages.of(value.toByteArray)), some),
      plain)
    val full = described(schema, ProtobufType.getDescriptor, "google.protobuf.Type")
    assertEquals(columns(full), columns(native(ProtobufType.getDescriptor)))
  }

  test("a schema without any numbers of fields, as of Go's client, is read by a descriptor") {
    val own   = TopicSchema("PROTOBUF", """{"type":"record","name":"Type","fields":[]}""")
    val full  = described(own, ProtobufType.getDescriptor, "google.protobuf.Type")
    val some  = StructType(Seq("name", "oneofs").map(columns(full)(_)))
    val value = ProtobufType.newBuilder.setName("n").addOneofs("x").build
    val row   =
      Messages.decoder(full, some, _ => own).decode(Messages.of(value.toByteArray, Messages.version(1)))
    assertEquals[Any, Any](Plain.ofRow(row, some), Map("name" -> "n", "oneofs" -> Vector("x")))
  }

  test("absent fields are null where the schema shows that it is proto2") {
    def absent(proto2: String, label: String) = {
      val field  = s"""{"name":"a","type":"int","default":$proto2},{"name":"b","type":"int","default":0}"""
      val schema =
        info(s"""{"type":"record","name":"M","fields":[$field]}""", (1, "a", "INT32", label),
          (2, "b", "INT32", "LABEL_OPTIONAL"))
      Plain.ofRow(Messages.decode(schema, Array.emptyByteArray), columns(schema))
    }
    assertEquals[Any, Any](absent("0", "LABEL_OPTIONAL"), Map("a" -> 0, "b" -> 0))
    assertEquals[Any, Any](absent("7", "LABEL_OPTIONAL"), Map("a" -> null, "b" -> null))
    assertEquals[Any, Any](absent("0", "LABEL_REQUIRED"), Map("a" -> null, "b" -> null))
  }

  private def info(definition: String, fields: (Int, String, String, String)*) = {
    val list = fields.map { case (number, name, kind, label) =>
      s"""{"number":$number,"name":"$name","type":"$kind","label":"$label"}"""
    }
    TopicSchema("PROTOBUF", definition, Map("__PARSING_INFO__" -> list.mkString("[", ",", "]")))
  }

  test("a number that means something else in another version is an error of its own") {
    val reader  = info("{}", (1, "a", "INT64", "LABEL_OPTIONAL"), (2, "b", "STRING", "LABEL_OPTIONAL"))
    val some    = columns(reader)
    val written = Map(1L -> "INT32", 2L -> "STRING").map { case (version, kind) =>
      version -> info("{}", (1, "x", kind, "LABEL_OPTIONAL"))
    }
    val decoder = Messages.decoder(reader, some, version => written(BigInt(version).toLong))
    val row     = decoder.decode(Messages.of(Array[Byte](8, 5), Messages.version(1)))
    assertEquals[Any, Any](Plain.ofRow(row, some), Map[String, Any]("a" -> 5L, "b" -> ""))
    val error =
      intercept[RuntimeException](decoder.decode(Messages.of(Array.emptyByteArray, Messages.version(2)))).getMessage
    assert(error.contains("[PULSAR_SCHEMA_NOT_RESOLVABLE]") && error.contains("field 1 is string there and int64 here"),
      error)
  }

  private def refused(condition: String, text: String)(body: => Any)(implicit loc: munit.Location): Unit = {
    val error = intercept[RuntimeException](body)
    assert(error.asInstanceOf[PulsarError].condition == condition && error.getMessage.contains(text), error.getMessage)
  }

  test("a descriptor of another schema and an incomplete schema are refused") {
    val message                                     = new ProtobufGenerators(new Random(1)).message()
    val (schema, first)                             = (parsed(message), message.getFields.get(0))
    def other(change: FieldDescriptorProto.Builder) = {
      val file = message.getFile.toProto.toBuilder
      val i    = file.getMessageType(0).getFieldList.asScala.indexWhere(_.getNumber == first.getNumber)
      file.getMessageTypeBuilder(0).setField(i, change)
      FileDescriptor.buildFrom(file.build, message.getFile.getDependencies.asScala.toArray).findMessageTypeByName("M")
    }
    val wrong = "PULSAR_PROTOBUF_DESCRIPTOR"
    refused(wrong, s"the schema has the field ${first.getNumber} ${first.getName}") {
      described(schema, other(first.toProto.toBuilder.setName("renamed")))
    }
    refused(wrong, "the descriptor none of that number")(
      described(schema, other(first.toProto.toBuilder.setNumber(999)))
    )
    refused(wrong, "which the schema does not have")(described(info("{}"), message))
    refused(wrong, "it has no message p.N, but ")(described(schema, message, "p.N"))
    refused(wrong, "the file is not a FileDescriptorSet") {
      ProtobufFormat.described(Messages.topic, schema, "a.desc", "no descriptor".getBytes(UTF_8), "p.M")
    }
    refused(wrong, "only PROTOBUF lacks a descriptor")(described(native(message), message))
    val unreadable = "PULSAR_SCHEMA_NOT_READABLE"
    refused(unreadable, "`protobuf.descriptorFile` and `protobuf.message` tell them instead")(
      columns(TopicSchema("PROTOBUF", "{}"))
    )
    refused(unreadable, "is not a list")(columns(TopicSchema("PROTOBUF", "{}", Map("__PARSING_INFO__" -> "{}"))))
    refused(unreadable, "a field in its property __PARSING_INFO__ has no number") {
      columns(TopicSchema("PROTOBUF", "{}", Map("__PARSING_INFO__" -> "[{}]")))
    }
    refused(unreadable, "TYPE_INT33, which protobuf does not know")(
      columns(info("{}", (1, "a", "INT33", "LABEL_OPTIONAL")))
    )
  }
}
