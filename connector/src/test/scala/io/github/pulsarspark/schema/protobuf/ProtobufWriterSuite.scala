package io.github.pulsarspark.schema.protobuf

import com.google.protobuf.{ByteString, CodedOutputStream, DynamicMessage}
import com.google.protobuf.DescriptorProtos._
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto.{Label, Type}
import com.google.protobuf.Descriptors.{Descriptor, FileDescriptor}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.util.{ArrayBasedMapData, GenericArrayData}
import org.apache.spark.unsafe.types.UTF8String

import io.github.pulsarspark.UnitSuite

/** The bytes of each [[ProtobufWriter]], as the library writes and parses them, and the nulls that each refuses. */
class ProtobufWriterSuite extends UnitSuite {
  import ProtobufWriter._

  /** `message M { int32 one = 1; repeated int32 packed = 2 [packed = true]; repeated string texts = 16; map<string,
    * int32> map = 17; }`
    */
  private val descriptor: Descriptor = {
    def field(name: String, number: Int, kind: Type, label: Label = Label.LABEL_OPTIONAL) =
      FieldDescriptorProto.newBuilder.setName(name).setNumber(number).setType(kind).setLabel(label)
    val entry = DescriptorProto.newBuilder.setName("MapEntry").setOptions(MessageOptions.newBuilder.setMapEntry(true))
      .addField(field("key", 1, Type.TYPE_STRING)).addField(field("value", 2, Type.TYPE_INT32))
    val message = DescriptorProto.newBuilder.setName("M").addNestedType(entry)
      .addField(field("one", 1, Type.TYPE_INT32))
      .addField(field("packed", 2, Type.TYPE_INT32, Label.LABEL_REPEATED)
        .setOptions(FieldOptions.newBuilder.setPacked(true)))
      .addField(field("texts", 16, Type.TYPE_STRING, Label.LABEL_REPEATED))
      .addField(field("map", 17, Type.TYPE_MESSAGE, Label.LABEL_REPEATED).setTypeName(".M.MapEntry"))
    FileDescriptor.buildFrom(
      FileDescriptorProto.newBuilder.setName("m").setSyntax("proto3").addMessageType(message)
        .build,
      Array.empty
    ).findMessageTypeByName("M")
  }

  private val int: ProtobufWriter  = (from, i, out) => out.writeInt32NoTag(from.getInt(i))
  private val text: ProtobufWriter = (from, i, out) => out.writeByteArrayNoTag(from.getUTF8String(i).getBytes)

  private def named(name: String)                      = descriptor.findFieldByName(name)
  private def failure(why: Any): IllegalStateException = new IllegalStateException(s"refused $why")
  private val refused: () => Throwable                 = () => failure("null")

  private def array(items: Any*) = new GenericArrayData(items.toArray[Any])

  private def map(entries: (String, Any)*) = new ArrayBasedMapData(
    array(entries.map(e => UTF8String.fromString(e._1)): _*),
    array(entries.map(_._2): _*)
  )

  private val single  = new Single(new Tagged(named("one"), int), 0, None)
  private val packed  = new Repeated(named("packed"), int, 0, refused)
  private val texts   = new Repeated(named("texts"), text, 0, refused)
  private val mapping = {
    val entry = named("map").getMessageType
    new Mapping(named("map"), new Tagged(entry.findFieldByNumber(1), text), new Tagged(entry.findFieldByNumber(2), int),
      0, refused)
  }

  private def written(field: Field, value: Any): Array[Byte] = bytes(field.write(InternalRow(value), _))

  /** The bytes of a row as the library reads them, in the order of the fields. */
  private def read(bytes: Array[Byte]): String = {
    val message = DynamicMessage.parseFrom(descriptor, bytes)
    assertEquals(message.toByteString, ByteString.copyFrom(bytes), "as the library would write it")
    message.getAllFields.toString.replaceAll("M\\.", "").replace("\n", "")
  }

  test("a value: its tag and itself; a null is absent, or refused where that is the same as a default") {
    assertEquals(written(single, 300).toSeq, Seq[Byte](8, -84, 2))
    assertEquals(written(single, null).toSeq, Seq.empty[Byte])
    val needed = new Single(new Tagged(named("one"), int), 0, Some(refused))
    assertEquals(written(needed, 300).toSeq, Seq[Byte](8, -84, 2))
    assertEquals(intercept[IllegalStateException](written(needed, null)).getMessage, "refused null")
  }

  test("numbers of a packed list: one tag, their bytes together; none for an empty list") {
    assertEquals(written(packed, array(1, 300, -1)).toSeq,
      Seq[Byte](18, 13, 1, -84, 2, -1, -1, -1, -1, -1, -1, -1, -1, -1, 1))
    assertEquals(written(packed, array()).toSeq, Seq.empty[Byte])
    read(written(packed, array(1, 300, -1)))
  }

  test("texts of a list: a tag each, in order; none for an empty list") {
    val value = array(Seq("b", "", "ä").map(UTF8String.fromString): _*)
    assertEquals(DynamicMessage.parseFrom(descriptor, written(texts, value)).getField(named("texts")).toString,
      "[b, , ä]")
    read(written(texts, value))
    assertEquals(written(texts, array()).toSeq, Seq.empty[Byte])
  }

  test("a map: each key with its own value; none for an empty map") {
    val found = DynamicMessage.parseFrom(descriptor, written(mapping, map("a" -> 1, "b" -> 2)))
    assertEquals(found.getRepeatedFieldCount(named("map")), 2)
    val entries = (0 until 2).map(found.getRepeatedField(named("map"), _)).map {
      case e: DynamicMessage =>
        val kind = named("map").getMessageType
        e.getField(kind.findFieldByNumber(1)).toString -> e.getField(kind.findFieldByNumber(2)).toString
      case other => fail(s"$other")
    }
    assertEquals(entries, Seq("a" -> "1", "b" -> "2"))
    assertEquals(written(mapping, map()).toSeq, Seq.empty[Byte])
  }

  for (
    (what, field, value) <- Seq[(String, Field, Any)](
      ("a list", packed, null),
      ("the first number of a list", packed, array(null, 1)),
      ("the last number of a list", packed, array(1, null)),
      ("a list of texts", texts, null),
      ("a text of a list", texts, array(UTF8String.fromString("a"), null)),
      ("a map", mapping, null),
      ("a value of a map", mapping, map("a" -> 1, "b" -> null))
    )
  ) test(s"$what that is null is refused") {
    assertEquals(intercept[IllegalStateException](written(field, value)).getMessage, "refused null")
  }

  test("a message: its fields in order, at most one member of each oneof, or a refusal before anything is written") {
    def field(name: String, ordinal: Int) = new Single(new Tagged(named(name), int), ordinal, None)
    val message = new Message(Array(field("one", 2), field("packed", 0)), Array(Array(0, 1), Array(2, 3)),
      n => failure(s"$n members"))
    def result(values: Any*): String = {
      val stream = new java.io.ByteArrayOutputStream
      val out    = CodedOutputStream.newInstance(stream)
      try { message.write(InternalRow.fromSeq(values), out); out.flush(); stream.toByteArray.mkString(" ") }
      catch {
        case e: IllegalStateException => out.flush(); (stream.toByteArray.map(_.toString) :+ e.getMessage).mkString
      }
    }
    assertEquals(result(5, null, 6, null), "8 6 16 5")
    assertEquals(result(null, null, null, null), "")
    assertEquals(result(5, 5, null, null), "refused 2 members")
    assertEquals(result(5, null, 6, 6), "refused 2 members", "of the second oneof")
  }
}
