package io.github.pulsarspark.schema.primitive

import java.lang.Double.doubleToRawLongBits
import java.lang.Float.floatToRawIntBits
import java.nio.ByteBuffer

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types._

import io.github.pulsarspark.schema.convert.{ColumnMismatch, SparkTime}
import io.github.pulsarspark.schema.{ValueColumns, ValueEncoder, WritePlan}

/** Pulsar's primitive schemas: numbers big endian, one value column. A value that the schema cannot hold exactly is
  * refused.
  */
private[schema] object PrimitiveEncoder {

  /** Values of one column of the rows. */
  def apply(schemaType: String, ordinal: Int, plan: WritePlan): ValueEncoder =
    (schemaType, plan.input(ordinal).dataType) match {
      case (_, NullType)                  => of(ordinal)(_ => null) // a tombstone in each row
      case ("BYTES" | "NONE", BinaryType) => new BytesEncoder(ordinal, isText = false)
      case ("STRING", _: StringType)      => new BytesEncoder(ordinal, isText = true)
      case ("BOOLEAN", BooleanType) => of(ordinal)(row => Array(if (row.getBoolean(ordinal)) 1.toByte else 0.toByte))
      case ("FLOAT", FloatType)     => of(ordinal)(row => bigEndian(floatToRawIntBits(row.getFloat(ordinal)).toLong, 4))
      case ("DOUBLE", FloatType)    =>
        of(ordinal)(row => bigEndian(doubleToRawLongBits(row.getFloat(ordinal).toDouble), 8))
      case ("DOUBLE", DoubleType) => of(ordinal)(row => bigEndian(doubleToRawLongBits(row.getDouble(ordinal)), 8))
      case ("INT8" | "INT16" | "INT32" | "INT64", column @ (ByteType | ShortType | IntegerType | LongType))
          if bytes(column) <= bytes(schemaType) =>
        val size = bytes(schemaType)
        column match {
          case ByteType    => of(ordinal)(row => bigEndian(row.getByte(ordinal).toLong, size))
          case ShortType   => of(ordinal)(row => bigEndian(row.getShort(ordinal).toLong, size))
          case IntegerType => of(ordinal)(row => bigEndian(row.getInt(ordinal).toLong, size))
          case _           => of(ordinal)(row => bigEndian(row.getLong(ordinal), size))
        }
      case ("LOCAL_DATE", DateType)              => of(ordinal)(row => bigEndian(row.getInt(ordinal).toLong, 8))
      case ("DATE" | "TIMESTAMP", TimestampType) =>
        of(ordinal)(row => bigEndian(plan.millis(row.getLong(ordinal), ValueColumns.Single, schemaType), 8))
      case ("DATE", DateType)         => of(ordinal)(row => bigEndian(row.getInt(ordinal) * MillisPerDay, 8))
      case ("INSTANT", TimestampType) =>
        of(ordinal)(row => instant(row.getLong(ordinal)))
      case ("LOCAL_DATE_TIME", TimestampNTZType) =>
        of(ordinal)(row => localDateTime(row.getLong(ordinal)))
      case ("TIME", LongType)       => of(ordinal)(row => bigEndian(row.getLong(ordinal), 8))
      case ("LOCAL_TIME", LongType) => of(ordinal)(row => bigEndian(timeOfDay(row.getLong(ordinal), plan), 8))
      case (_, column)              => number(schemaType, column, ordinal, plan).getOrElse(
          throw new ColumnMismatch(ValueColumns.Single, s"values of type $schemaType cannot be made of ${column.sql}")
        )
    }

  /** Numbers of a type that holds numbers which the schema does not. */
  private def number(schemaType: String, column: DataType, ordinal: Int, plan: WritePlan): Option[ValueEncoder] = {
    val numbers = plan.numbers(ValueColumns.Single, schemaType)
    schemaType match {
      case "INT8" | "INT16" | "INT32" | "INT64" =>
        val size = bytes(schemaType)
        numbers.whole(column, 8 * size).map(n => of(ordinal)(row => bigEndian(n(row, ordinal), size)))
      case "TIME"       => numbers.whole(column, 64).map(n => of(ordinal)(row => bigEndian(n(row, ordinal), 8)))
      case "LOCAL_TIME" =>
        numbers.whole(column, 64).map(n => of(ordinal)(row => bigEndian(timeOfDay(n(row, ordinal), plan), 8)))
      case "FLOAT" =>
        numbers.float(column).map(n => of(ordinal)(row => bigEndian(floatToRawIntBits(n(row, ordinal)).toLong, 4)))
      case "DOUBLE" =>
        numbers.double(column).map(n => of(ordinal)(row => bigEndian(doubleToRawLongBits(n(row, ordinal)), 8)))
      case _ => None
    }
  }

  /** Java's Date is a moment: a day begins at midnight in UTC. */
  private val MillisPerDay = SparkTime.MicrosPerDay / 1000

  private def bytes(column: DataType): Int   = column.defaultSize
  private def bytes(schemaType: String): Int = schemaType.stripPrefix("INT").toInt / 8

  private def instant(micros: Long): Array[Byte] =
    ByteBuffer.allocate(12).putLong(SparkTime.secondsOf(micros)).putInt(SparkTime.nanosOf(micros)).array

  private def localDateTime(micros: Long): Array[Byte] =
    ByteBuffer
      .allocate(16)
      .putLong(Math.floorDiv(micros, SparkTime.MicrosPerDay))
      .putLong(Math.floorMod(micros, SparkTime.MicrosPerDay) * 1000)
      .array

  private def timeOfDay(nanos: Long, plan: WritePlan): Long =
    if (SparkTime.isTimeOfDay(nanos)) nanos
    else
      throw plan.refused(
        ValueColumns.Single,
        nanos.toString,
        s"LOCAL_TIME is a number of nanoseconds below ${SparkTime.NanosPerDay}"
      )

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
