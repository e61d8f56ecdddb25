package io.github.pulsarspark.schema

import java.math.BigDecimal

import com.fasterxml.jackson.core.SerializableString
import org.apache.spark.unsafe.types.UTF8String

/** The output of the writers of one row's value, in the order of the schema: Avro's binary encoding or JSON.
  */
private[schema] trait ValueOutput {
  def empty(): Unit
  def boolean(value: Boolean): Unit
  def int(value: Int): Unit
  def long(value: Long): Unit
  def float(value: Float): Unit
  def double(value: Double): Unit
  def text(value: UTF8String): Unit
  def bytes(value: Array[Byte]): Unit
  def fixed(value: Array[Byte]): Unit

  /** @param size
    *   of the fixed that holds it, -1 for bytes
    */
  def decimal(value: BigDecimal, size: Int): Unit
  def symbol(index: Int, name: UTF8String): Unit

  /** Writes the index of a union's branch, before the value. */
  def branch(index: Int): Unit

  def startRecord(): Unit
  def field(name: SerializableString): Unit
  def endRecord(): Unit

  def startArray(size: Int): Unit
  def item(): Unit
  def endArray(): Unit

  def startMap(size: Int): Unit
  def key(name: UTF8String): Unit
  def endMap(): Unit
}
