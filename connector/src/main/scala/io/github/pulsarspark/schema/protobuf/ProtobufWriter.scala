package io.github.pulsarspark.schema.protobuf

import java.io.ByteArrayOutputStream

import com.google.protobuf.CodedOutputStream
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters

/** Takes one value that is not null out of a row, an array or a map and puts it into a message, without the tag that
  * goes before it.
  */
private[schema] abstract class ProtobufWriter(val wireType: Int) {
  def put(from: SpecializedGetters, ordinal: Int, out: CodedOutputStream): Unit
}

private[schema] object ProtobufWriter {
  val Ranges = 2

  trait Step { def apply(from: SpecializedGetters, ordinal: Int, out: CodedOutputStream): Unit }

  def of(wireType: Int)(step: Step): ProtobufWriter = new ProtobufWriter(wireType) {
    override def put(from: SpecializedGetters, ordinal: Int, out: CodedOutputStream): Unit = step(from, ordinal, out)
  }

  /** What is in a range of its own, which follows its length. */
  def bytes(fill: CodedOutputStream => Unit): Array[Byte] = {
    val bytes = new ByteArrayOutputStream
    val out   = CodedOutputStream.newInstance(bytes, BufferSize)
    fill(out)
    out.flush()
    bytes.toByteArray
  }

  private val BufferSize = 512

  /** A field with its tag; called with the column's value, which may be null. */
  abstract class Field(val ordinal: Int) {
    def write(from: SpecializedGetters, out: CodedOutputStream): Unit
  }

  final class Single(number: Int, value: ProtobufWriter, ordinal: Int, refuseNull: Option[() => Throwable])
      extends Field(ordinal) {
    override def write(from: SpecializedGetters, out: CodedOutputStream): Unit =
      if (from.isNullAt(ordinal)) refuseNull.foreach(refused => throw refused())
      else {
        out.writeTag(number, value.wireType)
        value.put(from, ordinal, out)
      }
  }

  final class Repeated(number: Int, item: ProtobufWriter, packed: Boolean, ordinal: Int, refused: () => Throwable)
      extends Field(ordinal) {
    override def write(from: SpecializedGetters, out: CodedOutputStream): Unit = {
      if (from.isNullAt(ordinal)) throw refused()
      val items = from.getArray(ordinal)
      val size  = items.numElements()
      if (packed && size > 0) {
        out.writeTag(number, Ranges)
        out.writeByteArrayNoTag(bytes(in => (0 until size).foreach(put(items, _, in))))
      } else
        (0 until size).foreach { i =>
          out.writeTag(number, item.wireType)
          put(items, i, out)
        }
    }

    private def put(items: SpecializedGetters, i: Int, out: CodedOutputStream): Unit =
      if (items.isNullAt(i)) throw refused() else item.put(items, i, out)
  }

  final class Mapping(number: Int, key: ProtobufWriter, value: ProtobufWriter, ordinal: Int, refused: () => Throwable)
      extends Field(ordinal) {
    override def write(from: SpecializedGetters, out: CodedOutputStream): Unit = {
      if (from.isNullAt(ordinal)) throw refused()
      val map    = from.getMap(ordinal)
      val keys   = map.keyArray()
      val values = map.valueArray()
      (0 until map.numElements()).foreach { i =>
        if (values.isNullAt(i)) throw refused()
        out.writeTag(number, Ranges)
        out.writeByteArrayNoTag(bytes { entry =>
          entry.writeTag(1, key.wireType)
          key.put(keys, i, entry)
          entry.writeTag(2, value.wireType)
          value.put(values, i, entry)
        })
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
