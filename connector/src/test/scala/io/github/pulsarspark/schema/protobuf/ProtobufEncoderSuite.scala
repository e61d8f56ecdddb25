package io.github.pulsarspark.schema.protobuf

import java.nio.charset.StandardCharsets.UTF_8

import com.google.protobuf.{Duration, DurationProto, DynamicMessage, Timestamp, TimestampProto}
import com.google.protobuf.DescriptorProtos._
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto.{Label, Type}
import com.google.protobuf.Descriptors.{Descriptor, FileDescriptor}
import org.apache.pulsar.client.impl.schema.ProtobufNativeSchemaUtils
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.util.{ArrayBasedMapData, GenericArrayData}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.errors.PulsarError
import io.github.pulsarspark.schema.TopicSchema
import io.github.pulsarspark.schema.rows.{Messages, RowEncoder, WritePlanner}

/** Refusals of [[ProtobufEncoder]], with their places: columns that do not fit a field, nulls, times out of range,
  * members of a oneof. Its bytes are compared with those of the library in [[ProtobufSuite]].
  */
class ProtobufEncoderSuite extends UnitSuite {
  import Label._
  import Type._

  private def field(name: String, number: Int, kind: Type, label: Label = LABEL_OPTIONAL, typeName: String = "") = {
    val made = FieldDescriptorProto.newBuilder.setName(name).setNumber(number).setType(kind).setLabel(label)
    if (typeName.isEmpty) made else made.setTypeName(typeName)
  }

  /** `message M` of these fields. Beside it there are `message Inner { optional int32 n = 1; oneof choice { string a =
    * 2; string b = 3; } }` and, in M, the entries of a `map<string, Inner>`.
    */
  private def message(syntax: String, fields: FieldDescriptorProto.Builder*): Descriptor = {
    val inner = DescriptorProto.newBuilder.setName("Inner").addField(field("n", 1, TYPE_INT32))
      .addOneofDecl(OneofDescriptorProto.newBuilder.setName("choice"))
    Seq("a" -> 2, "b" -> 3).foreach { case (name, number) =>
      inner.addField(field(name, number, TYPE_STRING).setOneofIndex(0))
    }
    val entry = DescriptorProto.newBuilder.setName("MapEntry").setOptions(MessageOptions.newBuilder.setMapEntry(true))
      .addField(field("key", 1, TYPE_STRING)).addField(field("value", 2, TYPE_MESSAGE, typeName = ".Inner"))
    val m = DescriptorProto.newBuilder.setName("M").addNestedType(entry)
    fields.foreach(m.addField(_))
    val needed = Array(TimestampProto.getDescriptor, DurationProto.getDescriptor)
    val file   = FileDescriptorProto.newBuilder.setName("m").setSyntax(syntax).addMessageType(m).addMessageType(inner)
    needed.foreach(d => file.addDependency(d.getName))
    FileDescriptor.buildFrom(file.build, needed).findMessageTypeByName("M")
  }

  private val inner     = field("inner", 1, TYPE_MESSAGE, typeName = ".Inner")
  private val inners    = field("inners", 2, TYPE_MESSAGE, LABEL_REPEATED, ".Inner")
  private val map       = field("map", 3, TYPE_MESSAGE, LABEL_REPEATED, ".M.MapEntry")
  private val timestamp = field("at", 4, TYPE_MESSAGE, typeName = ".google.protobuf.Timestamp")
  private val duration  = field("took", 5, TYPE_MESSAGE, typeName = ".google.protobuf.Duration")
  private val optional  = field("o", 6, TYPE_INT32)
  private val required  = field("r", 7, TYPE_INT32, LABEL_REQUIRED)
  private val nested    = message("proto3", inner, inners, map)
  private val times     = message("proto3", timestamp, duration)

  private def columns(all: (String, DataType)*) = StructType(all.map { case (name, kind) => StructField(name, kind) })

  private def written(m: Descriptor, columns: StructType, values: Any*): DynamicMessage = {
    val schema = TopicSchema("PROTOBUF_NATIVE", new String(ProtobufNativeSchemaUtils.serialize(m), UTF_8))
    val plan   = WritePlanner(columns, Some(Messages.topic), Some(schema), "auto")
    DynamicMessage.parseFrom(m, new RowEncoder(plan).encode(InternalRow.fromSeq(values)).value)
  }

  /** A row of null, or these values, is refused with a text that begins and ends so. */
  private def refused(m: Descriptor, columns: StructType, values: Any*)(what: String, why: String)(implicit
      loc: munit.Location
  ): Unit = {
    val row   = if (values.isEmpty) columns.map(_ => null) else values
    val error = intercept[RuntimeException with PulsarError](written(m, columns, row: _*))
    assert(error.getMessage.contains(s"] $what ") && error.getMessage.contains(why), error.getMessage)
  }

  private def text(value: String) = UTF8String.fromString(value)

  private val anInt = columns("x" -> IntegerType)
  private val both  = columns("a" -> StringType, "b" -> StringType)

  test("a column that does not fit is refused with its path") {
    refused(nested, columns("inner" -> anInt))("Column `inner.x`", "the schema has no such field; it has n, a, b")
    refused(nested, columns("inners" -> ArrayType(anInt)))("Column `inners[].x`", "the schema has no such field")
    refused(nested, columns("map" -> MapType(StringType, anInt)))("Column `map{}.x`", "the schema has no such field")
    refused(nested, columns("map" -> MapType(DateType, columns("n" -> IntegerType))))("Column `map{}`",
      "the field is string")
    refused(nested, columns("inner" -> columns("n" -> DateType)))("Column `inner.n`",
      "the field is int32, the column is DATE")
    refused(nested, columns("inner" -> IntegerType))("Column `inner`", "the field is message, the column is INT")
  }

  test("a map is a MAP, and no other field is one") {
    val entry = new StructType().add("key", StringType).add("value", columns("n" -> IntegerType))
    refused(nested, columns("map" -> ArrayType(entry)))("Column `map`", "the field is a map, the column is ARRAY")
    refused(nested, columns("inners" -> MapType(StringType, columns("n" -> IntegerType))))("Column `inners`",
      "the field is message, repeated, the column is MAP")
  }

  test("a time has the column of its kind") {
    for (kind <- Seq(LongType, DateType, DayTimeIntervalType()))
      refused(times, columns("at" -> kind))("Column `at`", "the field is message, the column")
    for (kind <- Seq(LongType, TimestampType))
      refused(times, columns("took" -> kind))("Column `took`", "the field is message, the column")
  }

  test("a field that is required has a column and a value; one that may be absent is left out") {
    val m = message("proto2", optional, required)
    refused(m, columns("o" -> IntegerType), 1)("Column `r`", "there is no such column, and the field is required")
    refused(m, columns("r" -> IntegerType))("Field `r`", "[PULSAR_WRITE_NULL_VALUE]")
    refused(m, columns("r" -> NullType))("Field `r`", "[PULSAR_WRITE_NULL_VALUE]")
    for (column <- Seq(IntegerType, NullType)) {
      val message = written(m, columns("o" -> column, "r" -> IntegerType), null, 7)
      assertEquals(message.hasField(m.findFieldByName("o")), false)
      assertEquals[Any, Any](message.getField(m.findFieldByName("r")), 7)
    }
    val within = message("proto2", field("in", 1, TYPE_MESSAGE, typeName = ".M"), required)
    refused(within, columns("r" -> IntegerType, "in" -> columns("in" -> NullType)), 7, null)(
      "Column `in.r`",
      "there is no such column, and the field is required"
    )
    refused(within, columns("r" -> IntegerType, "in" -> columns("r" -> NullType)), 7, null)(
      "Field `in.r`",
      "[PULSAR_WRITE_NULL_VALUE]"
    )
  }

  test("two members of a oneof are refused with their path, one or none is written") {
    refused(nested, columns("inner" -> both), InternalRow(text("x"), text("y")))(
      "Field `inner`",
      "holds 2 members of a oneof, which cannot be written: at most one"
    )
    refused(nested, columns("inners" -> ArrayType(both)),
      new GenericArrayData(Array[Any](InternalRow(text("x"), text("y")))))(
      "Field `inners[]`",
      "holds 2 members of a oneof"
    )
    refused(nested, columns("map" -> MapType(StringType, both)),
      ArrayBasedMapData(Array[Any](text("k")),
        Array[Any](InternalRow(text("x"), text("y"))))
    )("Field `map{}`", "holds 2 members of a oneof")
    val choice = nested.findFieldByName("inner")
    for ((values, member) <- Seq(Seq(text("x"), null) -> "a", Seq(null, text("y")) -> "b", Seq(null, null) -> "none")) {
      val one   = written(nested, columns("inner" -> both), InternalRow.fromSeq(values)).getField(choice)
      val found = one match {
        case m: DynamicMessage => Seq("a", "b").filter(name => m.hasField(choice.getMessageType.findFieldByName(name)))
        case other             => fail(s"$other")
      }
      assertEquals(found.mkString, member.replace("none", ""))
    }
  }

  private val (firstMicros, lastMicros) = (-62135596800000000L, 253402300799999999L)
  private val most                      = 315576000000L * 1000000

  private def at(micros: Long): Timestamp =
    Timestamp.parseFrom(embedded(written(times, columns("at" -> TimestampType), micros), "at"))

  private def took(micros: Long): Duration =
    Duration.parseFrom(embedded(written(times, columns("took" -> DayTimeIntervalType()), micros), "took"))

  private def embedded(message: DynamicMessage, name: String) =
    message.getField(times.findFieldByName(name)) match {
      case m: DynamicMessage => m.toByteString
      case other             => fail(s"$other")
    }

  test("a Timestamp is within the years 1 to 9999") {
    assertEquals(at(firstMicros).getSeconds -> at(firstMicros).getNanos, -62135596800L -> 0)
    assertEquals(at(lastMicros).getSeconds  -> at(lastMicros).getNanos, 253402300799L  -> 999999000)
    for (micros <- Seq(firstMicros - 1, lastMicros + 1, Long.MinValue, Long.MaxValue))
      refused(times, columns("at" -> TimestampType), micros)(
        "Field `at`",
        s"holds $micros µs since 1970, which cannot be written: google.protobuf.Timestamp is within"
      )
  }

  test("a Duration is at most 10000 years either way, and both of its parts have its sign") {
    for (
      (micros, seconds, nanos) <- Seq((most, 315576000000L, 0), (-most, -315576000000L, 0),
        (-1500000L, -1L, -500000000), (1000001L, 1L, 1000), (-1L, 0L, -1000))
    )
      assertEquals(took(micros).getSeconds -> took(micros).getNanos, seconds -> nanos)
    for (micros <- Seq(most + 1000000, -most - 1000000, Long.MinValue, Long.MaxValue))
      refused(times, columns("took" -> DayTimeIntervalType()), micros)(
        "Field `took`",
        s"holds $micros µs, which cannot be written: google.protobuf.Duration is at most"
      )
  }
}
