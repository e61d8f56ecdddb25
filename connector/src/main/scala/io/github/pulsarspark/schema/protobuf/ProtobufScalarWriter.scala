package io.github.pulsarspark.schema.protobuf

import scala.jdk.CollectionConverters._

import com.google.protobuf.Descriptors.{EnumDescriptor, FieldDescriptor}
import com.google.protobuf.Descriptors.FieldDescriptor.Type
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

/** Writes single values that are not messages. */
private[schema] object ProtobufScalarWriter {

  /** An error about a value and why it is refused. */
  type Refused = (String, String) => Throwable

  /** Finds the writer of a column; None if a column of this type cannot be written to the field. */
  def apply(field: FieldDescriptor, dataType: DataType, refused: Refused): Option[ProtobufWriter] = {
    def some(writer: ProtobufWriter): Option[ProtobufWriter]                = Some(writer)
    def whole(write: WholeNumber => ProtobufWriter): Option[ProtobufWriter] = wholeNumber(dataType).map(write)
    def large(write: WholeNumber => ProtobufWriter): Option[ProtobufWriter] = unsigned64(dataType, refused).map(write)
    (field.getType, dataType) match {
      case (Type.BOOL, BooleanType)     => some((from, i, out) => out.writeBoolNoTag(from.getBoolean(i)))
      case (Type.FLOAT, FloatType)      => some((from, i, out) => out.writeFloatNoTag(from.getFloat(i)))
      case (Type.DOUBLE, FloatType)     => some((from, i, out) => out.writeDoubleNoTag(from.getFloat(i).toDouble))
      case (Type.DOUBLE, DoubleType)    => some((from, i, out) => out.writeDoubleNoTag(from.getDouble(i)))
      case (Type.STRING, _: StringType) => some((from, i, out) =>
          out.writeByteArrayNoTag(from.getUTF8String(i).getBytes)
        )
      case (Type.BYTES, BinaryType)   => some((from, i, out) => out.writeByteArrayNoTag(from.getBinary(i)))
      case (Type.ENUM, _: StringType) => Some(enumeration(field.getEnumType, refused))
      case (Type.INT64, _)            => whole(n => (from, i, out) => out.writeInt64NoTag(n(from, i)))
      case (Type.SINT64, _)           => whole(n => (from, i, out) => out.writeSInt64NoTag(n(from, i)))
      case (Type.SFIXED64, _)         => whole(n => (from, i, out) => out.writeSFixed64NoTag(n(from, i)))
      case (Type.UINT32, _)   => whole(n => (from, i, out) => out.writeUInt32NoTag(unsigned32(n(from, i), refused)))
      case (Type.FIXED32, _)  => whole(n => (from, i, out) => out.writeFixed32NoTag(unsigned32(n(from, i), refused)))
      case (Type.UINT64, _)   => large(n => (from, i, out) => out.writeUInt64NoTag(n(from, i)))
      case (Type.FIXED64, _)  => large(n => (from, i, out) => out.writeFixed64NoTag(n(from, i)))
      case (_, LongType)      => None // does not fit what is left
      case (Type.INT32, _)    => whole(n => (from, i, out) => out.writeInt32NoTag(n(from, i).toInt))
      case (Type.SINT32, _)   => whole(n => (from, i, out) => out.writeSInt32NoTag(n(from, i).toInt))
      case (Type.SFIXED32, _) => whole(n => (from, i, out) => out.writeSFixed32NoTag(n(from, i).toInt))
      case _                  => None
    }
  }

  private trait WholeNumber { def apply(from: SpecializedGetters, ordinal: Int): Long }

  private def wholeNumber(dataType: DataType): Option[WholeNumber] = {
    def read(number: WholeNumber) = Some(number)
    dataType match {
      case ByteType    => read((from, i) => from.getByte(i).toLong)
      case ShortType   => read((from, i) => from.getShort(i).toLong)
      case IntegerType => read((from, i) => from.getInt(i).toLong)
      case LongType    => read((from, i) => from.getLong(i))
      case _           => None
    }
  }

  private def unsigned32(number: Long, refused: Refused): Int =
    if (number >= 0 && number <= 0xffffffffL) number.toInt
    else throw refused(number.toString, "the field is a number of 32 bits without sign")

  private def unsigned64(dataType: DataType, refused: Refused): Option[WholeNumber] = {
    def outside(number: Any) = refused(number.toString, "the field is a number of 64 bits without sign")
    def notNegative(whole: WholeNumber): WholeNumber = { (from, i) =>
      val number = whole(from, i)
      if (number < 0) throw outside(number)
      number
    }
    def decimal(precision: Int): WholeNumber = { (from, i) =>
      val number = from.getDecimal(i, precision, 0).toJavaBigDecimal.toBigInteger
      if (number.signum < 0 || number.bitLength > 64) throw outside(number)
      number.longValue
    }
    dataType match {
      case d: DecimalType if d.scale == 0 => Some(decimal(d.precision))
      case _                              => wholeNumber(dataType).map(notNegative)
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
