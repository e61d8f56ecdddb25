package io.github.pulsarspark.schema.primitive

import java.lang.Double.longBitsToDouble
import java.lang.Float.intBitsToFloat
import java.util.Arrays

import org.apache.spark.unsafe.types.UTF8String

import io.github.pulsarspark.format.entry.MessageView
import io.github.pulsarspark.schema.ValueDecoder
import io.github.pulsarspark.schema.convert.{MalformedValue, SparkTime}

/** Pulsar's primitive schemas: one value column, numbers big endian, times as the Java client's classes for them have
  * them.
  */
private[schema] object PrimitiveDecoder {

  def apply(schemaType: String, ordinal: Int): ValueDecoder = schemaType match {
    case "NONE" | "BYTES" =>
      (m, row) => row.update(ordinal, Arrays.copyOfRange(m.bytes, m.valueOffset, m.valueOffset + m.valueLength))
    case "STRING"  => (m, row) => row.update(ordinal, UTF8String.fromBytes(m.bytes, m.valueOffset, m.valueLength))
    case "BOOLEAN" => (m, row) => row.setBoolean(ordinal, number(m, 1) != 0)
    case "INT8"    => (m, row) => row.setByte(ordinal, number(m, 1).toByte)
    case "INT16"   => (m, row) => row.setShort(ordinal, number(m, 2).toShort)
    case "INT32"   => (m, row) => row.setInt(ordinal, number(m, 4).toInt)
    case "FLOAT"   => (m, row) => row.setFloat(ordinal, intBitsToFloat(number(m, 4).toInt))
    case "DOUBLE"  => (m, row) => row.setDouble(ordinal, longBitsToDouble(number(m, 8)))

    case "INT64" | "TIME"     => (m, row) => row.setLong(ordinal, number(m, 8))
    case "DATE" | "TIMESTAMP" => (m, row) => row.setLong(ordinal, SparkTime.ofMillis(number(m, 8)))
    case "LOCAL_DATE"         => (m, row) => row.setInt(ordinal, SparkTime.days(number(m, 8)))
    case "LOCAL_TIME"         => (m, row) => row.setLong(ordinal, SparkTime.nanosOfDay(number(m, 8)))
    case "INSTANT"            =>
      (m, row) => {
        checkLength(m, 12)
        row.setLong(ordinal, SparkTime.ofSeconds(bigEndian(m, 0, 8), bigEndian(m, 8, 4)))
      }
    case "LOCAL_DATE_TIME" =>
      (m, row) => {
        checkLength(m, 16)
        row.setLong(ordinal, SparkTime.ofDay(bigEndian(m, 0, 8), bigEndian(m, 8, 8)))
      }
  }

  private def number(m: MessageView, length: Int): Long = {
    checkLength(m, length)
    bigEndian(m, 0, length)
  }

  private def checkLength(m: MessageView, length: Int): Unit =
    if (m.valueLength != length) throw new MalformedValue(s"the value has ${m.valueLength} bytes instead of $length")

  private def bigEndian(m: MessageView, from: Int, length: Int): Long = {
    val at    = m.valueOffset + from
    var value = m.bytes(at).toLong
    var i     = 1
    while (i < length) {
      value = (value << 8) | (m.bytes(at + i) & 0xff)
      i += 1
    }
    value
  }
}
