package io.github.pulsarspark.schema.avro

import java.math.BigDecimal
import java.util.Arrays

import com.fasterxml.jackson.core.SerializableString
import org.apache.avro.io.EncoderFactory
import org.apache.spark.unsafe.types.UTF8String

import io.github.pulsarspark.schema.columns.EncodedValue

/** Avro's binary encoding. Not thread-safe. */
private[schema] final class AvroOutput extends RecordFormat.Output {
  private val out     = new RecordFormat.Collected
  private val encoder = EncoderFactory.get.binaryEncoder(out, null)

  /** Starts a value, whatever became of the one before. */
  override def reset(): Unit = {
    encoder.flush()
    out.reset()
  }

  override def result(value: EncodedValue): Unit = {
    encoder.flush()
    out.refer(value)
  }

  override def empty(): Unit                              = encoder.writeNull()
  override def boolean(value: Boolean): Unit              = encoder.writeBoolean(value)
  override def int(value: Int): Unit                      = encoder.writeInt(value)
  override def long(value: Long): Unit                    = encoder.writeLong(value)
  override def float(value: Float): Unit                  = encoder.writeFloat(value)
  override def double(value: Double): Unit                = encoder.writeDouble(value)
  override def text(value: UTF8String): Unit              = bytes(value.getBytes)
  override def bytes(value: Array[Byte]): Unit            = encoder.writeBytes(value, 0, value.length)
  override def fixed(value: Array[Byte]): Unit            = encoder.writeFixed(value, 0, value.length)
  override def symbol(index: Int, name: UTF8String): Unit = encoder.writeEnum(index)
  override def branch(index: Int): Unit                   = encoder.writeIndex(index)

  override def decimal(value: BigDecimal, size: Int): Unit = {
    val unscaled = value.unscaledValue.toByteArray
    if (size < 0) bytes(unscaled)
    else {
      val padded = new Array[Byte](size)
      Arrays.fill(padded, if (value.signum < 0) -1.toByte else 0.toByte)
      System.arraycopy(unscaled, 0, padded, size - unscaled.length, unscaled.length)
      fixed(padded)
    }
  }

  // Fields follow each other without names.
  override def startRecord(): Unit                   = ()
  override def field(name: SerializableString): Unit = ()
  override def endRecord(): Unit                     = ()

  override def startArray(size: Int): Unit = {
    encoder.writeArrayStart()
    encoder.setItemCount(size.toLong)
  }
  override def item(): Unit     = encoder.startItem()
  override def endArray(): Unit = encoder.writeArrayEnd()

  override def startMap(size: Int): Unit = {
    encoder.writeMapStart()
    encoder.setItemCount(size.toLong)
  }
  override def key(name: UTF8String): Unit = {
    encoder.startItem()
    text(name)
  }
  override def endMap(): Unit = encoder.writeMapEnd()
}
