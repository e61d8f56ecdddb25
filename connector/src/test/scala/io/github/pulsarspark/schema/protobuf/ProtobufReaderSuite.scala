package io.github.pulsarspark.schema.protobuf

import com.google.protobuf.DescriptorProtos._
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto.{Label, Type}
import com.google.protobuf.Descriptors.{Descriptor, FileDescriptor}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.types.NullType

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.format.entry.{MalformedBytes, ProtobufCursor}
import io.github.pulsarspark.schema.convert.MalformedValue

/** Fields as they may come, byte by byte: repeated, packed, out of order, of another kind, in groups. */
class ProtobufReaderSuite extends UnitSuite {
  import ProtobufField._

  /** A message with a field of each of these types, numbered from 1 on. */
  private def message(types: Type*): Descriptor = {
    val described = DescriptorProto.newBuilder.setName("M")
    types.zipWithIndex.foreach { case (kind, i) =>
      val field = described.addFieldBuilder().setName(s"f${i + 1}").setNumber(i + 1).setType(kind)
      field.setLabel(Label.LABEL_OPTIONAL)
      if (kind == Type.TYPE_ENUM) field.setTypeName("E")
    }
    val symbols = EnumDescriptorProto.newBuilder.setName("E")
    Seq("A" -> 0, "ALSO_A" -> 0, "B" -> 1).foreach { case (name, number) =>
      symbols.addValueBuilder().setName(name).setNumber(number)
    }
    symbols.setOptions(EnumOptions.newBuilder.setAllowAlias(true))
    val file = FileDescriptorProto.newBuilder.setName("f").setSyntax("proto3").addMessageType(described)
    FileDescriptor.buildFrom(file.addEnumType(symbols).build(), Array.empty).findMessageTypeByName("M")
  }

  private def scalar(kind: Type): ProtobufScalar = ProtobufScalar(message(kind).findFieldByNumber(1))

  private val int  = scalar(Type.TYPE_INT32)
  private val text = scalar(Type.TYPE_STRING)

  /** A row of the fields with these numbers, read from bytes in the middle of an array. */
  private def read(size: Int, fields: (Int, ProtobufField)*)(bytes: Int*): InternalRow = {
    val message = new ProtobufMessage(fields.map(_._1).toArray, fields.map(_._2).toArray, size, identity)
    val cursor  = new ProtobufCursor("malformed message")
    cursor.over((Seq(7, 7) ++ bytes :+ 7).map(_.toByte).toArray, 2, bytes.size)
    val row = message.start()
    message.readAll(cursor, row)
    message.finish(row) match {
      case done: InternalRow => done
      case other             => fail(s"$other is no row")
    }
  }

  private def shown(row: InternalRow): Seq[String] = (0 until row.numFields).map(i =>
    String.valueOf(row.get(i, NullType))
  )

  private def ints(absent: Any, ordinal: Int) = new Single(int, absent, ordinal)

  test("fields in any order, unknown ones between, the last value of a repeated one") {
    val fields = Seq(1 -> ints(null, 2), 3 -> ints(0, 0), 9 -> new Single(text, null, 1))
    assertEquals(shown(read(3, fields: _*)(8, 1, 24, 3, 74, 1, 'x')), Seq("3", "x", "1"))
    assertEquals(shown(read(3, fields: _*)(74, 1, 'x', 40, 5, 24, 3, 8, 1, 8, 2)), Seq("3", "x", "2"))
  }

  test("a field that is not there: null where that can be known, else the default of its type") {
    assertEquals(shown(read(2, 1 -> ints(null, 0), 2 -> ints(0, 1))()), Seq("null", "0"))
  }

  test("a value of another kind is a field that this schema does not know") {
    assertEquals(shown(read(1, 1 -> ints(null, 0))(10, 1, 'x', 13, 0, 0, 0, 0)), Seq("null"))
    assertEquals(shown(read(1, 1 -> new Repeated(item(int), 0))(13, 0, 0, 0, 0, 8, 4)), Seq("[4]"))
    assertEquals(read(1, 1 -> new Mapping(text, item(int), 0))(8, 4).getMap(0).numElements(), 0)
    val inner = new ProtobufMessage(Array(1), Array(ints(null, 0)), 1, identity)
    assertEquals(shown(read(1, 1 -> new Embedded(inner, 0))(8, 4)), Seq("null"))
  }

  test("groups are passed with all that is in them, and have an end") {
    assertEquals(shown(read(1, 1 -> ints(null, 0))(19, 27, 8, 9, 28, 10, 1, 8, 20, 8, 4)), Seq("4"))
    assertEquals(intercept[MalformedValue](read(1, 1 -> ints(null, 0))(19, 27, 8, 9, 28)).getMessage,
      "a group is not ended")
  }

  test("items one by one and packed, also of one field") {
    assertEquals(shown(read(1, 1 -> new Repeated(item(int), 0))(8, 1, 10, 3, 2, 3, 4, 8, 5, 10, 0)), Seq("[1,2,3,4,5]"))
    assertEquals(shown(read(1, 1 -> new Repeated(item(text), 0))(10, 1, 'a', 10, 0)), Seq("[a,]"))
    assertEquals(shown(read(1, 1 -> new Repeated(item(int), 0))()), Seq("[]"))
    intercept[MalformedBytes](read(1, 1 -> new Repeated(item(int), 0))(10, 3, 2))
  }

  test("entries of a map in any order of their parts, with defaults for one that is missing") {
    val map = new Mapping(text, item(int), 0)
    assertEquals(shown(read(1, 1 -> map)(10, 5, 10, 1, 'a', 16, 1, 10, 5, 16, 2, 10, 1, 'b')),
      Seq("keys: [a,b], values: [1,2]"))
    assertEquals(shown(read(1, 1 -> map)(10, 3, 10, 1, 'a', 10, 2, 16, 7, 10, 0)), Seq("keys: [a,], values: [0,0]"))
    assertEquals(shown(read(1, 1 -> map)(10, 7, 10, 1, 'a', 24, 9, 16, 1)), Seq("keys: [a], values: [1]"),
      "unknown part")
  }

  test("a message that comes in parts is one, and its fields end where it ends") {
    val inner = new ProtobufMessage(Array(1, 2), Array(ints(null, 0), ints(null, 1)), 2, identity)
    val outer = Seq(1 -> new Embedded(inner, 0), 2 -> ints(null, 1))
    val row   = read(2, outer: _*)(10, 2, 8, 1, 16, 9, 10, 2, 16, 2)
    assertEquals((shown(row.getStruct(0, 2)), row.getInt(1)), (Seq("1", "2"), 9))
    assert(read(2, outer: _*)(16, 9).isNullAt(0), "of the message before")
    assertEquals(shown(read(2, outer: _*)(10, 0).getStruct(0, 2)), Seq("null", "null"))
  }

  test("of a oneof, the member that was read last, also where that one is not requested") {
    val (one, two, hidden) = (ints(null, 0), ints(null, 1), new Rival)
    one.rivals = Array(two)
    two.rivals = Array(one)
    hidden.rivals = Array(one, two)
    def last(bytes: Int*) = shown(read(2, 1 -> one, 2 -> two, 3 -> hidden)(bytes: _*))
    assertEquals(last(8, 1, 16, 2), Seq("null", "2"))
    assertEquals(last(16, 2, 8, 1), Seq("1", "null"))
    assertEquals(last(8, 1, 16, 2, 24, 3), Seq("null", "null"))
  }

  private def one(kind: Type)(bytes: Int*): String = {
    val reader = scalar(kind)
    val row    = new GenericInternalRow(1)
    val cursor = new ProtobufCursor
    cursor.over(bytes.map(_.toByte).toArray, 0, bytes.size)
    reader.set(cursor, row, 0)
    assert(cursor.isAtEnd, s"$kind")
    String.valueOf(row.get(0, NullType))
  }

  private val minusOne = Seq.fill(9)(0xff) :+ 1

  for (
    (kind, bytes, expected) <- Seq(
      (Type.TYPE_INT32, minusOne, "-1"),
      (Type.TYPE_UINT32, minusOne, "4294967295"),
      (Type.TYPE_SINT32, Seq(1), "-1"),
      (Type.TYPE_FIXED32, Seq.fill(4)(0xff), "4294967295"),
      (Type.TYPE_SFIXED32, Seq.fill(4)(0xff), "-1"),
      (Type.TYPE_INT64, minusOne, "-1"),
      (Type.TYPE_UINT64, minusOne, "18446744073709551615"),
      (Type.TYPE_SINT64, minusOne, Long.MinValue.toString),
      (Type.TYPE_FIXED64, Seq.fill(8)(0xff), "18446744073709551615"),
      (Type.TYPE_SFIXED64, Seq.fill(8)(0xff), "-1"),
      (Type.TYPE_BOOL, Seq(2), "true"),
      (Type.TYPE_FLOAT, Seq(0, 0, 0x80, 0x3f), "1.0"),
      (Type.TYPE_ENUM, Seq(0), "A"),
      (Type.TYPE_ENUM, Seq(1), "B"),
      (Type.TYPE_ENUM, Seq(7), "7")
    )
  ) test(s"$kind ${bytes.map(_.toHexString).mkString(" ")} is $expected")(assertEquals(one(kind)(bytes: _*), expected))

  test("fields that can be read as others: wider numbers, more of one, and maps by their parts") {
    def widens(written: Type, read: Type) =
      ProtobufWidening(message(written).findFieldByNumber(1), message(read).findFieldByNumber(1))
    assert(widens(Type.TYPE_INT32, Type.TYPE_INT64) && widens(Type.TYPE_BOOL, Type.TYPE_UINT64))
    assert(!widens(Type.TYPE_INT64, Type.TYPE_INT32) && !widens(Type.TYPE_INT32, Type.TYPE_SINT32))
    assert(widens(Type.TYPE_STRING, Type.TYPE_BYTES) && !widens(Type.TYPE_BYTES, Type.TYPE_STRING))
  }
}
