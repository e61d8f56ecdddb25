package io.github.pulsarspark.schema.rows

import scala.jdk.CollectionConverters._
import scala.util.Random

import com.google.protobuf.{ByteString, DurationProto, DynamicMessage, TimestampProto, WrappersProto}
import com.google.protobuf.DescriptorProtos._
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto.{Label, Type}
import com.google.protobuf.Descriptors.{Descriptor, FieldDescriptor, FileDescriptor}

/** Random messages types of both syntaxes and random messages of them, with the edges of every type. */
final class ProtobufGenerators(random: Random) {

  private val scalars   = Type.values.toSeq.filterNot(t => Set(Type.TYPE_GROUP, Type.TYPE_MESSAGE, Type.TYPE_ENUM)(t))
  private val mapKeys   = scalars.filterNot(t => Set(Type.TYPE_FLOAT, Type.TYPE_DOUBLE, Type.TYPE_BYTES)(t))
  private val wellKnown =
    Seq("Timestamp", "Duration", "Int64Value", "UInt64Value", "StringValue", "BytesValue", "DoubleValue", "BoolValue",
      "UInt32Value")

  private def oneOf[T](values: Seq[T]): T = values(random.nextInt(values.size))

  def message(): Descriptor = {
    val proto3 = random.nextBoolean()
    val file   =
      FileDescriptorProto.newBuilder.setName("a.proto").setPackage("p").setSyntax(if (proto3) "proto3" else "proto2")
    val codes = EnumDescriptorProto.newBuilder.setName("Code")
    Seq("A" -> 0, "B" -> 5, "C" -> -3).foreach { case (n, i) =>
      codes.addValue(EnumValueDescriptorProto.newBuilder.setName(n).setNumber(i))
    }
    val needed = Seq(TimestampProto.getDescriptor, DurationProto.getDescriptor, WrappersProto.getDescriptor)
    needed.foreach(d => file.addDependency(d.getName))
    file.addEnumType(codes).addMessageType(messageType("M", ".p.M", 2, proto3))
    FileDescriptor.buildFrom(file.build, needed.toArray).findMessageTypeByName("M")
  }

  private def messageType(name: String, path: String, depth: Int, proto3: Boolean): DescriptorProto.Builder = {
    val result   = DescriptorProto.newBuilder.setName(name)
    val numbers  = random.shuffle((1 to 30).toSeq ++ Seq(2000, 536870911))
    val oneof    = random.nextBoolean()
    var optional = Seq.empty[FieldDescriptorProto.Builder]
    if (oneof) result.addOneofDecl(OneofDescriptorProto.newBuilder.setName("choice"))
    (0 until 1 + random.nextInt(8)).foreach { i =>
      val field = FieldDescriptorProto.newBuilder.setName(s"f$i").setNumber(numbers(i)).setLabel(Label.LABEL_OPTIONAL)
      typed(field, s"F$i", path, depth, proto3, result)
      random.nextInt(6) match {
        case 0 =>
          field.setLabel(Label.LABEL_REPEATED)
          if (
            field.getType != Type.TYPE_STRING && field.getType != Type.TYPE_BYTES && field.getType != Type.TYPE_MESSAGE
          )
            field.setOptions(FieldOptions.newBuilder.setPacked(random.nextBoolean()))
        case 1 => // a map
          val entry =
            DescriptorProto.newBuilder.setName(s"F${i}Entry").setOptions(MessageOptions.newBuilder.setMapEntry(true))
          val key = FieldDescriptorProto.newBuilder.setName("key").setNumber(1).setLabel(Label.LABEL_OPTIONAL).setType(
            oneOf(mapKeys)
          )
          val value = field.clone().setName("value").setNumber(2)
          entry.addField(key).addField(value)
          result.addNestedType(entry)
          field.setLabel(Label.LABEL_REPEATED).setType(Type.TYPE_MESSAGE).setTypeName(s"$path.F${i}Entry")
        case 2 | 3 if oneof => field.setOneofIndex(0)
        case 4 if proto3    => optional :+= field
        case _              => ()
      }
      if (!optional.contains(field)) result.addField(field)
    }
    if (oneof && !result.getFieldList.asScala.exists(_.hasOneofIndex))
      result.addField(
        FieldDescriptorProto.newBuilder.setName("z").setNumber(31).setLabel(Label.LABEL_OPTIONAL).setType(
          Type.TYPE_INT32
        ).setOneofIndex(0)
      )
    optional.foreach { field =>
      result.addOneofDecl(OneofDescriptorProto.newBuilder.setName(s"_${field.getName}"))
      result.addField(field.setProto3Optional(true).setOneofIndex(result.getOneofDeclCount - 1))
    }
    result
  }

  private def typed(
      field: FieldDescriptorProto.Builder,
      inner: String,
      path: String,
      depth: Int,
      proto3: Boolean,
      outer: DescriptorProto.Builder
  ): Unit = {
    random.nextInt(8) match {
      case 0 if depth > 0 =>
        outer.addNestedType(messageType(inner, s"$path.$inner", depth - 1, proto3))
        field.setType(Type.TYPE_MESSAGE).setTypeName(s"$path.$inner")
      case 1 => field.setType(Type.TYPE_ENUM).setTypeName(".p.Code")
      case 2 => field.setType(Type.TYPE_MESSAGE).setTypeName(s".google.protobuf.${oneOf(wellKnown)}")
      case _ => field.setType(oneOf(scalars))
    }
    ()
  }

  def value(message: Descriptor): DynamicMessage = {
    val result = DynamicMessage.newBuilder(message)
    message.getFullName match {
      case "google.protobuf.Timestamp" | "google.protobuf.Duration" =>
        val seconds = oneOf(Seq(0L, -1L, 253402300799L, -62135596800L, random.nextInt().toLong))
        result.setField(
          message.findFieldByNumber(1),
          seconds
        ).setField(message.findFieldByNumber(2), oneOf(Seq(0, 999999999, 1000, random.nextInt(1000000000))))
      case _ =>
        message.getFields.asScala.foreach { field =>
          if (field.isRepeated) (0 until random.nextInt(4)).foreach(_ => result.addRepeatedField(field, single(field)))
          else if (random.nextInt(3) > 0) result.setField(field, single(field))
        }
    }
    result.build
  }

  private def single(field: FieldDescriptor): Any = field.getType match {
    case FieldDescriptor.Type.MESSAGE => value(field.getMessageType)
    case FieldDescriptor.Type.ENUM    =>
      val known = field.getEnumType.getValues.asScala.toSeq
      if (field.getEnumType.isClosed || random.nextInt(4) > 0) oneOf(known)
      else field.getEnumType.findValueByNumberCreatingIfUnknown(random.nextInt())
    case t =>
      t.getJavaType match {
        case FieldDescriptor.JavaType.INT   => oneOf(Seq(0, 1, -1, Int.MinValue, Int.MaxValue, random.nextInt()))
        case FieldDescriptor.JavaType.LONG  => oneOf(Seq(0L, 1L, -1L, Long.MinValue, Long.MaxValue, random.nextLong()))
        case FieldDescriptor.JavaType.FLOAT =>
          oneOf(Seq(0f, -0f, Float.NaN, Float.MinValue, Float.PositiveInfinity, random.nextFloat()))
        case FieldDescriptor.JavaType.DOUBLE =>
          oneOf(Seq(0d, -0d, Double.NaN, Double.MaxValue, Double.NegativeInfinity, random.nextDouble()))
        case FieldDescriptor.JavaType.BOOLEAN     => random.nextBoolean()
        case FieldDescriptor.JavaType.STRING      => oneOf(Seq("", "ä漢😀", random.nextInt().toString))
        case FieldDescriptor.JavaType.BYTE_STRING => ByteString.copyFrom(random.nextBytes(random.nextInt(5)))
        case other                                => sys.error(s"$other")
      }
  }
}
