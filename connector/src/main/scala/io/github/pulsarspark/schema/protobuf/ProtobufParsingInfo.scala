package io.github.pulsarspark.schema.protobuf

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import com.google.protobuf.DescriptorProtos._
import com.google.protobuf.Descriptors.{Descriptor, FieldDescriptor, FileDescriptor}
import com.google.protobuf.Descriptors.FieldDescriptor.JavaType

import io.github.pulsarspark.schema.TopicSchema
import io.github.pulsarspark.schema.convert.UnsupportedSchema

/** PROTOBUF schemas. They keep number, name, type and label of the fields of their message, but no numbers of what is
  * inside these fields, nor of enums. The descriptor made of them has a message without fields in their place: fields;
  * [[isComplete]] is false for them. Where the user sets the descriptor of the message ([[TopicSchema.message]]),
  * values are read and written by that.
  */
private[schema] object ProtobufParsingInfo {
  val Type = "PROTOBUF"

  private val Property = "__PARSING_INFO__"
  private val FileName = "made-from-parsing-info.proto"
  private val Unknown  = "Unknown"
  private val mapper   = new ObjectMapper

  private final case class Field(number: Int, name: String, kind: String, label: String) {
    override def toString: String = s"$number $name ${kind.toLowerCase} ${label.stripPrefix("LABEL_").toLowerCase}"
  }

  /** Message descriptor that a schema of this type contains; throws [[UnsupportedSchema]] if it contains none. */
  def declared(schema: TopicSchema): Descriptor = {
    val found    = fields(schema)
    val isProto2 = found.exists(_.label == "LABEL_REQUIRED") || found.exists(hasOwnDefault(_, schema))
    val file     = FileDescriptorProto.newBuilder.setName(FileName).setSyntax(if (isProto2) "proto2" else "proto3")
    val inner    = EnumDescriptorProto.newBuilder.setName("Symbols")
    file
      .addMessageType(DescriptorProto.newBuilder.setName("Message").addAllField(found.map(toProto).asJava))
      .addMessageType(
        DescriptorProto.newBuilder
          .setName(Unknown)
          .addEnumType(inner.addValue(EnumValueDescriptorProto.newBuilder.setName("UNKNOWN").setNumber(0)))
      )
    FileDescriptor.buildFrom(file.build, Array.empty[FileDescriptor]).findMessageTypeByName("Message")
  }

  /** True if a schema of this type does not describe its message, as those of the Go client. */
  def isMissing(schema: TopicSchema): Boolean = schema.schemaType == Type && !schema.properties.contains(Property)

  /** True if values of the field can be read and written. */
  def isComplete(field: FieldDescriptor): Boolean =
    field.getFile.getName != FileName || (field.getJavaType != JavaType.MESSAGE && field.getJavaType != JavaType.ENUM)

  /** Difference between a descriptor that the user sets and the schema; None if they agree. */
  def disagreement(schema: TopicSchema, message: Descriptor): Option[String] = {
    val declared = fields(schema).sortBy(_.number)
    val actual   = message.getFields.asScala.toSeq.sortBy(_.getNumber).map { f =>
      Field(f.getNumber, f.getName, f.getType.name, f.toProto.getLabel.name)
    }
    declared.diff(actual).headOption.map { f =>
      s"the schema has the field $f, the descriptor " +
        actual.find(_.number == f.number).fold("none of that number")(_.toString)
    }.orElse(
      actual.diff(declared).headOption.map(f => s"the descriptor has the field $f, which the schema does not have")
    )
  }

  private def toProto(f: Field): FieldDescriptorProto = {
    val kind  = enumeration[FieldDescriptorProto.Type](f, s"TYPE_${f.kind}", FieldDescriptorProto.Type.valueOf)
    val proto = FieldDescriptorProto.newBuilder
      .setNumber(f.number)
      .setName(f.name)
      .setType(kind)
      .setLabel(enumeration[FieldDescriptorProto.Label](f, f.label, FieldDescriptorProto.Label.valueOf))
    kind match {
      case FieldDescriptorProto.Type.TYPE_MESSAGE | FieldDescriptorProto.Type.TYPE_GROUP =>
        proto.setTypeName(s".$Unknown")
      case FieldDescriptorProto.Type.TYPE_ENUM => proto.setTypeName(s".$Unknown.Symbols")
      case _                                   => ()
    }
    proto.build
  }

  private def enumeration[T](field: Field, name: String, of: String => T): T =
    try of(name)
    catch {
      case _: IllegalArgumentException =>
        throw new UnsupportedSchema(field.name, s"its parsing info has $name, which protobuf does not know")
    }

  private def fields(schema: TopicSchema): Seq[Field] = {
    val info =
      schema.properties.getOrElse(
        Property,
        throw new UnsupportedSchema("",
          s"it lacks the property $Property, which tells numbers of fields; `protobuf.descriptorFile` and " +
            "`protobuf.message` tell them instead")
      )
    val list = mapper.readTree(info)
    if (!list.isArray) throw new UnsupportedSchema("", s"its property $Property is not a list")
    list.asScala.toSeq.map { node =>
      def part(name: String): JsonNode =
        Option(node.get(name)).getOrElse(
          throw new UnsupportedSchema("", s"a field in its property $Property has no $name")
        )
      Field(part("number").asInt, part("name").asText, part("type").asText, part("label").asText)
    }
  }

  /** True if the field has a default other than 0, false or empty, which only proto2 allows. The default of an enum is
    * always a name.
    */
  private def hasOwnDefault(field: Field, schema: TopicSchema): Boolean = {
    val fields   = Option(mapper.readTree(schema.definition).get("fields")).fold(Seq.empty[JsonNode])(_.asScala.toSeq)
    val defaults = fields.find(_.path("name").asText == field.name).map(_.path("default"))
    field.kind != "ENUM" &&
    defaults.exists(d => (d.isNumber && d.asDouble != 0) || d.asBoolean || (d.isTextual && d.asText.nonEmpty))
  }
}
