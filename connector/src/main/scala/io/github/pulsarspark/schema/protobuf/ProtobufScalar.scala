package io.github.pulsarspark.schema.protobuf

import java.lang.Double.longBitsToDouble
import java.lang.Float.intBitsToFloat
import java.math.{BigDecimal => JBigDecimal, BigInteger}
import java.util.Arrays

import scala.jdk.CollectionConverters._

import com.google.protobuf.Descriptors.{EnumDescriptor, FieldDescriptor}
import com.google.protobuf.Descriptors.FieldDescriptor.Type
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.Decimal
import org.apache.spark.unsafe.types.UTF8String

import io.github.pulsarspark.format.entry.ProtobufCursor
import io.github.pulsarspark.schema.convert.UnresolvableSchema

/** Reads one value that is not a message.
  *
  * @param wireType
  *   how it is stored; a field stored otherwise is one that this schema does not know
  * @param default
  *   what a field without presence holds when it is not there
  */
private[schema] abstract class ProtobufScalar(val wireType: Int, val default: Any) {

  /** Null for a value that counts as not being there, an unknown number of a closed enum. */
  def value(in: ProtobufCursor): Any

  /** Sets the column. Implementations override it to save an object. */
  def set(in: ProtobufCursor, row: InternalRow, ordinal: Int): Unit = {
    val v = value(in)
    if (v != null) row.update(ordinal, v)
  }
}

private[schema] object ProtobufScalar {
  private val Varint = 0
  private val Eight  = 1
  private val Ranges = 2
  private val Four   = 5

  def apply(field: FieldDescriptor): ProtobufScalar = field.getType match {
    case Type.INT32  => int(Varint)(_.int())
    case Type.SINT32 => int(Varint) { in =>
        val n = in.int(); (n >>> 1) ^ -(n & 1)
      }
    case Type.SFIXED32 => int(Four)(_.fixed32())
    case Type.INT64    => long(Varint)(_.long())
    case Type.SINT64   => long(Varint) { in =>
        val n = in.long(); (n >>> 1) ^ -(n & 1)
      }
    case Type.SFIXED64 => long(Eight)(_.fixed64())
    case Type.UINT32   => long(Varint)(_.int() & 0xffffffffL)
    case Type.FIXED32  => long(Four)(_.fixed32() & 0xffffffffL)
    case Type.UINT64   => of(Varint, unsigned(0))(in => unsigned(in.long()))
    case Type.FIXED64  => of(Eight, unsigned(0))(in => unsigned(in.fixed64()))
    case Type.FLOAT    => of(Four, 0f)(in => intBitsToFloat(in.fixed32()))
    case Type.DOUBLE   => of(Eight, 0d)(in => longBitsToDouble(in.fixed64()))
    case Type.BOOL     => of(Varint, false)(_.boolean())
    case Type.STRING   => of(Ranges, UTF8String.EMPTY_UTF8) { in =>
        val length = in.range()
        UTF8String.fromBytes(in.array, in.rangeStart, length)
      }
    case Type.BYTES => of(Ranges, Array.emptyByteArray) { in =>
        val length = in.range()
        Arrays.copyOfRange(in.array, in.rangeStart, in.rangeStart + length)
      }
    case Type.ENUM                 => enumeration(field.getEnumType)
    case Type.MESSAGE | Type.GROUP => throw new UnresolvableSchema(s"${field.getFullName} is a message")
  }

  private def of(wireType: Int, default: Any)(read: ProtobufCursor => Any): ProtobufScalar =
    new ProtobufScalar(wireType, default) {
      override def value(in: ProtobufCursor): Any = read(in)
    }

  private trait ReadInt  { def apply(in: ProtobufCursor): Int  }
  private trait ReadLong { def apply(in: ProtobufCursor): Long }

  private def int(wireType: Int)(read: ReadInt): ProtobufScalar = new ProtobufScalar(wireType, 0) {
    override def value(in: ProtobufCursor): Any                                = read(in)
    override def set(in: ProtobufCursor, row: InternalRow, ordinal: Int): Unit = row.setInt(ordinal, read(in))
  }

  private def long(wireType: Int)(read: ReadLong): ProtobufScalar = new ProtobufScalar(wireType, 0L) {
    override def value(in: ProtobufCursor): Any                                = read(in)
    override def set(in: ProtobufCursor, row: InternalRow, ordinal: Int): Unit = row.setLong(ordinal, read(in))
  }

  /** A number without a name is its digits in an open enum, as in the text form of messages. */
  private def enumeration(descriptor: EnumDescriptor): ProtobufScalar = {
    val names   = descriptor.getValues.asScala.reverse.map(v => v.getNumber -> UTF8String.fromString(v.getName)).toMap
    val closed  = descriptor.isClosed
    val default = names.getOrElse(0, UTF8String.fromString("0"))
    of(Varint, default) { in =>
      val number = in.int()
      names.getOrElse(number, if (closed) null else UTF8String.fromString(number.toString))
    }
  }

  private def unsigned(bits: Long): Decimal = {
    val value = if (bits >= 0) BigInteger.valueOf(bits) else new BigInteger(java.lang.Long.toUnsignedString(bits))
    Decimal(new JBigDecimal(value), ProtobufSchemas.Unsigned64.precision, ProtobufSchemas.Unsigned64.scale)
  }
}
