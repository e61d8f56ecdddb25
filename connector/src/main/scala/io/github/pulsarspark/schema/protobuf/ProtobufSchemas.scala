package io.github.pulsarspark.schema.protobuf

import java.util.Base64

import scala.collection.mutable
import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.ObjectMapper
import com.google.protobuf.DescriptorProtos.{DescriptorProto, FileDescriptorProto, FileDescriptorSet}
import com.google.protobuf.Descriptors.{Descriptor, FieldDescriptor, FileDescriptor}
import com.google.protobuf.Descriptors.FieldDescriptor.Type
import org.apache.spark.sql.types._

import io.github.pulsarspark.schema.convert.{ColumnLimit, UnsupportedSchema}

/** Schemas that carry the descriptors of their message, as PROTOBUF_NATIVE, and the Spark types they are read as.
  *
  * Pulsar's `ProtobufNativeSchemaUtils` is not used, because formats know nothing of Pulsar's client and errors here
  * name what a definition lacks.
  */
private[schema] object ProtobufSchemas {
  private val mapper = new ObjectMapper

  /** Type of unsigned 64-bit integers, which need 20 digits. */
  val Unsigned64: DecimalType = DecimalType(20, 0)

  /** The message that a definition is about: JSON with a set of files, in base64, and the name of the message. */
  def parse(definition: String): Descriptor = {
    val node               = mapper.readTree(definition)
    def text(name: String) =
      Option(node.get(name)).map(_.asText).filter(_.nonEmpty).getOrElse(
        throw new UnsupportedSchema("", s"its definition has no $name")
      )
    val files = FileDescriptorSet.parseFrom(Base64.getDecoder.decode(text("fileDescriptorSet"))).getFileList.asScala
    val root  = text("rootMessageTypeName")
    val file  = link(files.map(f => f.getName -> f).toMap)(text("rootFileDescriptorName"))
    messages(file.getMessageTypes.asScala.toSeq)
      .find(_.getFullName == root)
      .getOrElse(throw new UnsupportedSchema("", s"its definition has no message $root"))
  }

  /** A definition for [[parse]] out of files that protoc has put together. */
  def definition(files: Array[Byte], message: String): String = {
    val set = FileDescriptorSet.parseFrom(files).getFileList.asScala
    def names(prefix: String, types: Seq[DescriptorProto]): Seq[String] =
      types.flatMap(t => s"$prefix${t.getName}" +: names(s"$prefix${t.getName}.", t.getNestedTypeList.asScala.toSeq))
    val known = set.toSeq.flatMap { f =>
      names(if (f.getPackage.isEmpty) "" else s"${f.getPackage}.", f.getMessageTypeList.asScala.toSeq).map(
        _ -> f.getName
      )
    }
    val file =
      known.toMap.getOrElse(
        message,
        throw new UnsupportedSchema("",
          s"it has no message $message, but ${known.map(_._1).takeRight(10).mkString(", ")}")
      )
    mapper.writeValueAsString(
      mapper.createObjectNode
        .put("fileDescriptorSet", Base64.getEncoder.encodeToString(files))
        .put("rootMessageTypeName", message)
        .put("rootFileDescriptorName", file)
    )
  }

  private def messages(outer: Seq[Descriptor]): Seq[Descriptor] = outer ++
    outer.flatMap(m => messages(m.getNestedTypes.asScala.toSeq))

  /** Files refer to each other by name. */
  private def link(files: Map[String, FileDescriptorProto]): String => FileDescriptor = {
    val linked                                                = mutable.Map.empty[String, FileDescriptor]
    def file(name: String, open: Set[String]): FileDescriptor = linked.getOrElse(
      name, {
        if (open(name)) throw new UnsupportedSchema("", s"file $name imports itself")
        if (open.size > ColumnLimit.Levels)
          throw new UnsupportedSchema("", s"its files import each other over more than ${ColumnLimit.Levels} levels")
        val proto  = files.getOrElse(name, throw new UnsupportedSchema("", s"its definition lacks the file $name"))
        val result = FileDescriptor.buildFrom(proto, proto.getDependencyList.asScala.map(file(_, open + name)).toArray)
        linked.put(name, result)
        result
      }
    )
    file(_, Set.empty)
  }

  /** Spark type of a well-known message type; None for a message that becomes a struct. */
  def wellKnown(message: Descriptor): Option[DataType] = message.getFullName match {
    case "google.protobuf.Timestamp" => Some(TimestampType)
    case "google.protobuf.Duration"  => Some(DayTimeIntervalType())
    case name if wrappers(name)      => Option(message.findFieldByNumber(1)).map(scalarType)
    case _                           => None
  }

  private val wrappers = Set("Double", "Float", "Int64", "UInt64", "Int32", "UInt32", "Bool", "String", "Bytes")
    .map(name => s"google.protobuf.${name}Value")

  /** The columns of a message; throws [[UnsupportedSchema]] when there are none. */
  def sparkType(message: Descriptor): StructType = struct(message, "", Nil, new ColumnLimit)

  private def struct(message: Descriptor, path: String, open: List[String], limit: ColumnLimit): StructType = {
    val name = message.getFullName
    if (open.contains(name))
      throw new UnsupportedSchema(path, s"message $name contains itself, and a table cannot be nested without end")
    StructType(message.getFields.asScala.toSeq.map { f =>
      val own = if (path.isEmpty) f.getName else s"$path.${f.getName}"
      StructField(f.getName, limit.within(own)(fieldType(f, own, name :: open, limit)), f.hasPresence)
    })
  }

  private def fieldType(field: FieldDescriptor, path: String, open: List[String], limit: ColumnLimit): DataType =
    if (field.isMapField) {
      val entry             = field.getMessageType
      def part(number: Int) = Option(entry.findFieldByNumber(number)).getOrElse(
        throw new UnsupportedSchema(path, s"the entries of its map have no field $number")
      )
      val value = valueType(part(2), s"$path{}", open, limit)
      MapType(scalarType(part(1)), value, valueContainsNull = false)
    } else if (field.isRepeated) ArrayType(valueType(field, s"$path[]", open, limit), containsNull = false)
    else valueType(field, path, open, limit)

  private def valueType(
      field: FieldDescriptor,
      path: String,
      open: List[String],
      limit: ColumnLimit
  ): DataType = field.getType match {
    case Type.MESSAGE => wellKnown(field.getMessageType).getOrElse(struct(field.getMessageType, path, open, limit))
    case Type.GROUP   => throw new UnsupportedSchema(path, "groups, which protobuf has given up, are not read")
    case _            => scalarType(field)
  }

  private def scalarType(field: FieldDescriptor): DataType = field.getType match {
    case Type.DOUBLE                              => DoubleType
    case Type.FLOAT                               => FloatType
    case Type.INT32 | Type.SINT32 | Type.SFIXED32 => IntegerType
    case Type.INT64 | Type.SINT64 | Type.SFIXED64 => LongType
    case Type.UINT32 | Type.FIXED32               => LongType
    case Type.UINT64 | Type.FIXED64               => Unsigned64
    case Type.BOOL                                => BooleanType
    case Type.STRING | Type.ENUM                  => StringType
    case Type.BYTES                               => BinaryType
    case Type.MESSAGE | Type.GROUP => throw new UnsupportedSchema(field.getName, "a message is not a single value")
  }
}
