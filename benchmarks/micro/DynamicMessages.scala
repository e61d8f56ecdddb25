package io.github.pulsarspark.schema.protobuf

import scala.jdk.CollectionConverters._

import com.google.protobuf.{ByteString, CodedInputStream, DynamicMessage, Message}
import com.google.protobuf.Descriptors.{Descriptor, EnumValueDescriptor, FieldDescriptor}
import com.google.protobuf.Descriptors.FieldDescriptor.JavaType
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{GenericInternalRow, SpecializedGetters}
import org.apache.spark.sql.catalyst.util.GenericArrayData
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import io.github.pulsarspark.format.entry.MessageView
import io.github.pulsarspark.schema.ValueDecoder

/** Rows from and to protobuf's own [[DynamicMessage]], compiled for the columns as ours are: what [[ProtobufDecoder]]
  * and [[ProtobufEncoder]] are measured against. Knows the types that [[ProtobufThroughput]] uses.
  */
private[protobuf] object DynamicMessages {

  private trait Read  { def apply(value: Any): Any                                }
  private trait Write { def apply(from: SpecializedGetters, ordinal: Int): AnyRef }

  def decoder(message: Descriptor, wanted: StructType, ordinals: Array[Int]): ValueDecoder = {
    val fields = reader(message, wanted, ordinals)
    new ValueDecoder {
      override def decode(m: MessageView, row: InternalRow): Unit = {
        val in = CodedInputStream.newInstance(m.bytes, m.valueOffset, m.valueLength)
        fields.read(DynamicMessage.parseFrom(message, in), row)
      }
    }
  }

  private final class Reader(fields: Array[FieldDescriptor], reads: Array[Read], ordinals: Array[Int]) {
    def read(from: Message, row: InternalRow): Unit = {
      var i = 0
      while (i < fields.length) {
        val f = fields(i)
        if (f.hasPresence && !from.hasField(f)) row.setNullAt(ordinals(i))
        else row.update(ordinals(i), reads(i)(from.getField(f)))
        i += 1
      }
    }
  }

  private def reader(message: Descriptor, wanted: StructType, ordinals: Array[Int]): Reader = {
    val fields = wanted.fields.map(c => message.findFieldByName(c.name))
    new Reader(fields, fields.zip(wanted.fields).map { case (f, c) => read(f, c.dataType) }, ordinals)
  }

  private def read(f: FieldDescriptor, dataType: DataType): Read = dataType match {
    case ArrayType(item, _) =>
      val one = readSingle(f, item)
      value =>
        new GenericArrayData(value.asInstanceOf[java.util.List[Any]].asScala.map(one(_)).toArray[Any])
    case _ => readSingle(f, dataType)
  }

  private def readSingle(f: FieldDescriptor, dataType: DataType): Read = (f.getJavaType, dataType) match {
    case (JavaType.STRING, _)      => value => UTF8String.fromString(value.asInstanceOf[String])
    case (JavaType.BYTE_STRING, _) => value => value.asInstanceOf[ByteString].toByteArray
    case (JavaType.ENUM, _)        =>
      val names = f.getEnumType.getValues.asScala.map(v => v.getNumber -> UTF8String.fromString(v.getName)).toMap
      value =>
        names(value.asInstanceOf[EnumValueDescriptor].getNumber)
    case (JavaType.MESSAGE, struct: StructType) =>
      val inner = reader(f.getMessageType, struct, struct.indices.toArray)
      value => {
        val row = new GenericInternalRow(struct.size)
        inner.read(value.asInstanceOf[Message], row)
        row
      }
    case _ => value => value
  }

  /** @param row
    *   has all `columns`
    */
  def encoder(message: Descriptor, columns: StructType): InternalRow => Array[Byte] = {
    val fields = writer(message, columns)
    row => fields.write(row).toByteArray
  }

  private final class Writer(message: Descriptor, fields: Array[FieldDescriptor], writes: Array[Write]) {
    def write(from: SpecializedGetters): DynamicMessage = {
      val builder = DynamicMessage.newBuilder(message)
      var i       = 0
      while (i < fields.length) {
        if (!from.isNullAt(i)) builder.setField(fields(i), writes(i)(from, i))
        i += 1
      }
      builder.build()
    }
  }

  private def writer(message: Descriptor, columns: StructType): Writer = {
    val fields = columns.fields.map(c => message.findFieldByName(c.name))
    new Writer(message, fields, fields.zip(columns.fields).map { case (f, c) => write(f, c.dataType) })
  }

  private def write(f: FieldDescriptor, dataType: DataType): Write = dataType match {
    case ArrayType(item, _) =>
      val one = writeSingle(f, item)
      (from, i) => {
        val items = from.getArray(i)
        val list  = new java.util.ArrayList[AnyRef](items.numElements())
        (0 until items.numElements()).foreach(at => list.add(one(items, at)))
        list
      }
    case _ => writeSingle(f, dataType)
  }

  private def writeSingle(f: FieldDescriptor, dataType: DataType): Write = (f.getJavaType, dataType) match {
    case (JavaType.STRING, _)      => (from, i) => from.getUTF8String(i).toString
    case (JavaType.BYTE_STRING, _) => (from, i) => ByteString.copyFrom(from.getBinary(i))
    case (JavaType.ENUM, _)        =>
      val numbers = f.getEnumType.getValues.asScala.map(v => UTF8String.fromString(v.getName) -> v).toMap
      (from, i) => numbers(from.getUTF8String(i))
    case (JavaType.MESSAGE, struct: StructType) =>
      val inner = writer(f.getMessageType, struct)
      (from, i) => inner.write(from.getStruct(i, struct.size))
    case (JavaType.INT, _)     => (from, i) => Int.box(from.getInt(i))
    case (JavaType.LONG, _)    => (from, i) => Long.box(from.getLong(i))
    case (JavaType.DOUBLE, _)  => (from, i) => Double.box(from.getDouble(i))
    case (JavaType.FLOAT, _)   => (from, i) => Float.box(from.getFloat(i))
    case (JavaType.BOOLEAN, _) => (from, i) => Boolean.box(from.getBoolean(i))
    case (JavaType.MESSAGE, _) => sys.error(s"${f.getFullName} is not a struct")
  }
}
