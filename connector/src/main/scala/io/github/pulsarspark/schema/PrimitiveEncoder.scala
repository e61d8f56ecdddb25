package io.github.pulsarspark.schema

import java.lang.Double.doubleToRawLongBits
import java.lang.Float.floatToRawIntBits

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types._

import io.github.pulsarspark.schema.ValueWriterCompiler.Misfit

/** Pulsar's primitive schemas: numbers big endian, one value column. */
private[schema] object PrimitiveEncoder {

  /** The primitive schema type that a column of this type is written with, if there is one. */
  def schemaType(dataType: DataType): Option[String] = dataType match {
    case BinaryType    => Some("BYTES")
    case _: StringType => Some("STRING")
    case BooleanType   => Some("BOOLEAN")
    case ByteType      => Some("INT8")
    case ShortType     => Some("INT16")
    case IntegerType   => Some("INT32")
    case LongType      => Some("INT64")
    case FloatType     => Some("FLOAT")
    case DoubleType    => Some("DOUBLE")
    case _             => None
  }

  def apply(schemaType: String, column: DataType, ordinal: Int): ValueEncoder = (schemaType, column) match {
    case ("BYTES" | "NONE", BinaryType) => of(ordinal)(_.getBinary(ordinal))
    case ("STRING", _: StringType)      => of(ordinal)(_.getUTF8String(ordinal).getBytes)
    case ("BOOLEAN", BooleanType)       => of(ordinal)(row => Array(if (row.getBoolean(ordinal)) 1.toByte else 0.toByte))
    case ("FLOAT", FloatType)           => of(ordinal)(row => bigEndian(floatToRawIntBits(row.getFloat(ordinal)).toLong, 4))
    case ("DOUBLE", FloatType)          => of(ordinal)(row => bigEndian(doubleToRawLongBits(row.getFloat(ordinal).toDouble), 8))
    case ("DOUBLE", DoubleType)         => of(ordinal)(row => bigEndian(doubleToRawLongBits(row.getDouble(ordinal)), 8))
    case ("INT8" | "INT16" | "INT32" | "INT64", ByteType | ShortType | IntegerType | LongType) if bytes(column) <= bytes(schemaType) =>
      val size = bytes(schemaType)
      column match {
        case ByteType    => of(ordinal)(row => bigEndian(row.getByte(ordinal).toLong, size))
        case ShortType   => of(ordinal)(row => bigEndian(row.getShort(ordinal).toLong, size))
        case IntegerType => of(ordinal)(row => bigEndian(row.getInt(ordinal).toLong, size))
        case _           => of(ordinal)(row => bigEndian(row.getLong(ordinal), size))
      }
    case _ => throw new Misfit(SchemaTranslation.ValueColumn, s"values of type $schemaType cannot be made of ${column.sql}")
  }

  private def bytes(column: DataType): Int   = column.defaultSize
  private def bytes(schemaType: String): Int = schemaType.stripPrefix("INT").toInt / 8

  private trait Encode { def apply(row: InternalRow): Array[Byte] }

  private def of(ordinal: Int)(step: Encode): ValueEncoder = new ValueEncoder {
    override def encode(row: InternalRow): Array[Byte] = if (row.isNullAt(ordinal)) null else step(row)
  }

  private def bigEndian(value: Long, size: Int): Array[Byte] = {
    val out  = new Array[Byte](size)
    var rest = value
    var i    = size - 1
    while (i >= 0) {
      out(i) = rest.toByte
      rest >>= 8
      i -= 1
    }
    out
  }
}
