package io.github.pulsarspark.schema.protobuf

import scala.jdk.CollectionConverters._

import com.google.protobuf.Descriptors.{EnumDescriptor, FieldDescriptor}
import com.google.protobuf.Descriptors.FieldDescriptor.Type
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import io.github.pulsarspark.schema.convert.NumberConversion
import io.github.pulsarspark.schema.convert.NumberConversion.ToLong

/** Writes single values that are not messages. */
private[schema] object ProtobufScalarWriter {

  /** An error about a value and why it is refused. */
  type Refused = (String, String) => Throwable

  /** Finds the writer of a column; None if a column of this type cannot be written to the field. */
  def apply(
      field: FieldDescriptor,
      dataType: DataType,
      numbers: NumberConversion,
      refused: Refused
  ): Option[ProtobufWriter] = {
    def some(writer: ProtobufWriter): Option[ProtobufWriter] = Some(writer)
    def small(write: ToLong => ProtobufWriter)               = numbers.whole(dataType, 32).map(write)
    def whole(write: ToLong => ProtobufWriter)               = numbers.whole(dataType, 64).map(write)
    def unsigned(write: ToLong => ProtobufWriter)            = numbers.within(dataType, 0, 0xffffffffL).map(write)
    def large(write: ToLong => ProtobufWriter)               = numbers.unsigned64(dataType).map(write)
    (field.getType, dataType) match {
      case (Type.BOOL, BooleanType)     => some((from, i, out) => out.writeBoolNoTag(from.getBoolean(i)))
      case (Type.STRING, _: StringType) => some((from, i, out) =>
          out.writeByteArrayNoTag(from.getUTF8String(i).getBytes)
        )
      case (Type.BYTES, BinaryType)   => some((from, i, out) => out.writeByteArrayNoTag(from.getBinary(i)))
      case (Type.ENUM, _: StringType) => Some(enumeration(field.getEnumType, refused))
      case (Type.FLOAT, _)    => numbers.float(dataType).map(n => (from, i, out) => out.writeFloatNoTag(n(from, i)))
      case (Type.DOUBLE, _)   => numbers.double(dataType).map(n => (from, i, out) => out.writeDoubleNoTag(n(from, i)))
      case (Type.INT64, _)    => whole(n => (from, i, out) => out.writeInt64NoTag(n(from, i)))
      case (Type.SINT64, _)   => whole(n => (from, i, out) => out.writeSInt64NoTag(n(from, i)))
      case (Type.SFIXED64, _) => whole(n => (from, i, out) => out.writeSFixed64NoTag(n(from, i)))
      case (Type.UINT32, _)   => unsigned(n => (from, i, out) => out.writeUInt32NoTag(n(from, i).toInt))
      case (Type.FIXED32, _)  => unsigned(n => (from, i, out) => out.writeFixed32NoTag(n(from, i).toInt))
      case (Type.UINT64, _)   => large(n => (from, i, out) => out.writeUInt64NoTag(n(from, i)))
      case (Type.FIXED64, _)  => large(n => (from, i, out) => out.writeFixed64NoTag(n(from, i)))
      case (Type.INT32, _)    => small(n => (from, i, out) => out.writeInt32NoTag(n(from, i).toInt))
      case (Type.SINT32, _)   => small(n => (from, i, out) => out.writeSInt32NoTag(n(from, i).toInt))
      case (Type.SFIXED32, _) => small(n => (from, i, out) => out.writeSFixed32NoTag(n(from, i).toInt))
      case _                  => None
    }
  }

  private def enumeration(descriptor: EnumDescriptor, refused: Refused): ProtobufWriter = {
    val numbers = descriptor.getValues.asScala.map(v => UTF8String.fromString(v.getName) -> v.getNumber).toMap
    def numberOf(name: UTF8String): Int =
      numbers.get(name).orElse(Option.unless(descriptor.isClosed)(name.toString).flatMap(_.toIntOption)).getOrElse(
        throw refused(name.toString,
          s"the symbols of the enum are ${descriptor.getValues.asScala.map(_.getName).mkString(", ")}")
      )
    (from, i, out) => out.writeEnumNoTag(numberOf(from.getUTF8String(i)))
  }
}
