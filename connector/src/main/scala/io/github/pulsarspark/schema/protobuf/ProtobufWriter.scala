package io.github.pulsarspark.schema.protobuf

import java.io.ByteArrayOutputStream

import com.google.protobuf.{CodedOutputStream, WireFormat}
import com.google.protobuf.Descriptors.FieldDescriptor
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters

/** Writes one value that is not null out of a row, an array or a map into a message, without the tag that goes before
  * it.
  *
  * Written by hand because protobuf's `DynamicMessage` takes more than three times the CPU
  * (benchmarks/results/micro.md): it boxes every value and walks every message twice more, for its size and to write
  * it.
  */
private[schema] trait ProtobufWriter {
  def put(from: SpecializedGetters, ordinal: Int, out: CodedOutputStream): Unit
}

private[schema] object ProtobufWriter {

  /** Writes a value after the tag of its field. */
  final class Tagged(field: FieldDescriptor, value: ProtobufWriter) extends ProtobufWriter {
    private val wireType = field.getLiteType.getWireType

    override def put(from: SpecializedGetters, ordinal: Int, out: CodedOutputStream): Unit = {
      out.writeTag(field.getNumber, wireType)
      value.put(from, ordinal, out)
    }
  }

  /** Bytes that `fill` writes, for a field whose length is written first. */
  def bytes(fill: CodedOutputStream => Unit): Array[Byte] = {
    val bytes = new ByteArrayOutputStream
    val out   = CodedOutputStream.newInstance(bytes, BufferSize)
    fill(out)
    out.flush()
    bytes.toByteArray
  }

  private def range(field: FieldDescriptor, out: CodedOutputStream)(fill: CodedOutputStream => Unit): Unit = {
    out.writeTag(field.getNumber, WireFormat.WIRETYPE_LENGTH_DELIMITED)
    out.writeByteArrayNoTag(bytes(fill))
  }

  private val BufferSize = 512

  /** A field with its tag; called with the column's value, which may be null. */
  abstract class Field(val ordinal: Int) {
    def write(from: SpecializedGetters, out: CodedOutputStream): Unit
  }

  final class Single(value: Tagged, ordinal: Int, refuseNull: Option[() => Throwable]) extends Field(ordinal) {
    override def write(from: SpecializedGetters, out: CodedOutputStream): Unit =
      if (from.isNullAt(ordinal)) refuseNull.foreach(refused => throw refused())
      else value.put(from, ordinal, out)
  }

  final class Repeated(field: FieldDescriptor, item: ProtobufWriter, ordinal: Int, refused: () => Throwable)
      extends Field(ordinal) {
    private val tagged = new Tagged(field, item)

    override def write(from: SpecializedGetters, out: CodedOutputStream): Unit = {
      if (from.isNullAt(ordinal)) throw refused()
      val items = from.getArray(ordinal)
      val size  = items.numElements()
      if (field.isPacked && size > 0)
        range(field, out)(in => (0 until size).foreach(put(item, items, _, in)))
      else (0 until size).foreach(put(tagged, items, _, out))
    }

    private def put(writer: ProtobufWriter, items: SpecializedGetters, i: Int, out: CodedOutputStream): Unit =
      if (items.isNullAt(i)) throw refused() else writer.put(items, i, out)
  }

  final class Mapping(field: FieldDescriptor, key: Tagged, value: Tagged, ordinal: Int, refused: () => Throwable)
      extends Field(ordinal) {
    override def write(from: SpecializedGetters, out: CodedOutputStream): Unit = {
      if (from.isNullAt(ordinal)) throw refused()
      val map    = from.getMap(ordinal)
      val keys   = map.keyArray()
      val values = map.valueArray()
      (0 until map.numElements()).foreach { i =>
        if (values.isNullAt(i)) throw refused()
        range(field, out) { entry =>
          key.put(keys, i, entry)
          value.put(values, i, entry)
        }
      }
    }
  }

  /** @param oneofs
    *   places of the members of each oneof
    */
  final class Message(fields: Array[Field], oneofs: Array[Array[Int]], refused: Int => Throwable) {
    def write(from: SpecializedGetters, out: CodedOutputStream): Unit = {
      oneofs.foreach { members =>
        val count = members.count(!from.isNullAt(_))
        if (count > 1) throw refused(count)
      }
      fields.foreach(_.write(from, out))
    }
  }
}
