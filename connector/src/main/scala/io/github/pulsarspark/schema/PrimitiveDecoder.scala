package io.github.pulsarspark.schema

import java.lang.Double.longBitsToDouble
import java.lang.Float.intBitsToFloat
import java.util.Arrays

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.unsafe.types.UTF8String

import io.github.pulsarspark.log.MessageView

/** Pulsar's primitive schemas: one value column, numbers big endian. */
private[schema] object PrimitiveDecoder {

  def apply(schemaType: String, ordinal: Int): ValueDecoder = schemaType match {
    case "NONE" | "BYTES" =>
      of((m, row) => row.update(ordinal, Arrays.copyOfRange(m.bytes, m.valueOffset, m.valueOffset + m.valueLength)))
    case "STRING"  => of((m, row) => row.update(ordinal, UTF8String.fromBytes(m.bytes, m.valueOffset, m.valueLength)))
    case "BOOLEAN" => of((m, row) => row.setBoolean(ordinal, bigEndian(m, 1) != 0))
    case "INT8"    => of((m, row) => row.setByte(ordinal, bigEndian(m, 1).toByte))
    case "INT16"   => of((m, row) => row.setShort(ordinal, bigEndian(m, 2).toShort))
    case "INT32"   => of((m, row) => row.setInt(ordinal, bigEndian(m, 4).toInt))
    case "INT64"   => of((m, row) => row.setLong(ordinal, bigEndian(m, 8)))
    case "FLOAT"   => of((m, row) => row.setFloat(ordinal, intBitsToFloat(bigEndian(m, 4).toInt)))
    case "DOUBLE"  => of((m, row) => row.setDouble(ordinal, longBitsToDouble(bigEndian(m, 8))))
  }

  private trait Decode { def apply(m: MessageView, row: InternalRow): Unit }

  private def of(step: Decode): ValueDecoder = new ValueDecoder {
    override def decode(m: MessageView, row: InternalRow): Unit = step(m, row)
  }

  private def bigEndian(m: MessageView, length: Int): Long = {
    if (m.valueLength != length) throw new MalformedValue(s"the value has ${m.valueLength} bytes instead of $length")
    var value = m.bytes(m.valueOffset).toLong
    var i     = 1
    while (i < length) {
      value = (value << 8) | (m.bytes(m.valueOffset + i) & 0xff)
      i += 1
    }
    value
  }
}
