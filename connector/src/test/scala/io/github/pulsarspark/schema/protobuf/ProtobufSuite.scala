package io.github.pulsarspark.schema.protobuf

import java.math.BigInteger
import java.nio.charset.StandardCharsets.UTF_8

import scala.jdk.CollectionConverters._
import scala.util.Random

import com.google.protobuf.{ByteString, DescriptorProtos, DynamicMessage, Message, StructProto}
import com.google.protobuf.DescriptorProtos._
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto.{Label, Type}
import com.google.protobuf.Descriptors.{Descriptor, EnumValueDescriptor, FieldDescriptor, FileDescriptor}
import org.apache.pulsar.client.impl.schema.ProtobufNativeSchemaUtils
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types._
import org.scalacheck.Gen
import org.scalacheck.Prop.forAll

import io.github.pulsarspark.PropertySuite
import io.github.pulsarspark.errors.PulsarError
import io.github.pulsarspark.schema.TopicSchema
import io.github.pulsarspark.schema.rows.{Messages, Plain, ProtobufGenerators, RowEncoder, SchemaTranslation, WritePlanner}

/** Values as [[ProtobufDecoder]] reads them, and their writers: the library's dynamic messages are the oracle, the
  * client's own code makes the schemas.
  */
class ProtobufSuite extends PropertySuite(200) {

  private val seeds = Gen.choose(0L, Long.MaxValue)

  private def schema(message: Descriptor) =
    TopicSchema("PROTOBUF_NATIVE", new String(ProtobufNativeSchemaUtils.serialize(message), UTF_8))

  private def plain(message: Message): Map[String, Any] =
    message.getDescriptorForType.getFields.asScala.map(f => f.getName -> field(message, f)).toMap

  private def field(message: Message, f: FieldDescriptor): Any =
    if (f.isMapField) {
      val entry = f.getMessageType
      message.getField(f).asInstanceOf[java.util.List[Message]].asScala.map { e =>
        val key = single(e.getField(entry.findFieldByNumber(1)), entry.findFieldByNumber(1))
        key.toString -> single(e.getField(entry.findFieldByNumber(2)), entry.findFieldByNumber(2))
      }.toMap
    } else if (f.isRepeated) message.getField(f).asInstanceOf[java.util.List[Any]].asScala.toVector.map(single(_, f))
    else if (f.hasPresence && !message.hasField(f)) null
    else single(message.getField(f), f)

  private def single(value: Any, f: FieldDescriptor): Any = (value, f.getType) match {
    case (m: Message, _)             => nested(m)
    case (e: EnumValueDescriptor, _) =>
      if (f.getEnumType.findValueByNumber(e.getNumber) == null) e.getNumber.toString else e.getName
    case (i: Int, FieldDescriptor.Type.UINT32 | FieldDescriptor.Type.FIXED32)  => Integer.toUnsignedLong(i)
    case (l: Long, FieldDescriptor.Type.UINT64 | FieldDescriptor.Type.FIXED64) =>
      new java.math.BigDecimal(new BigInteger(java.lang.Long.toUnsignedString(l)))
    case (b: ByteString, _) => b.toByteArray.toVector
    case (d: Double, _)     => Plain.Bits(java.lang.Double.doubleToRawLongBits(d))
    case (d: Float, _)      => Plain.Bits(java.lang.Float.floatToRawIntBits(d).toLong)
    case _                  => value
  }

  private def nested(m: Message): Any = {
    val d = m.getDescriptorForType
    d.getFullName match {
      case "google.protobuf.Timestamp" | "google.protobuf.Duration" =>
        val seconds = m.getField(d.findFieldByNumber(1)).asInstanceOf[Long]
        val nanos   = m.getField(d.findFieldByNumber(2)).asInstanceOf[Int]
        seconds * 1000000 + Math.floorDiv(nanos, 1000)
      case name if name.startsWith("google.protobuf.") =>
        single(m.getField(d.findFieldByNumber(1)), d.findFieldByNumber(1))
      case _ => plain(m)
    }
  }

  property("messages of the library are read, and two in a row are merged into one") {
    forAll(seeds) { seed =>
      val generators = new ProtobufGenerators(new Random(seed))
      val message    = generators.message()
      val columns    = SchemaTranslation.toStruct(Messages.topic, schema(message))
      val decoder    = Messages.decoder(schema(message), columns)
      (0 until 5).foreach { _ =>
        val (one, other) = (generators.value(message), generators.value(message))
        assertEquals[Any, Any](Plain.ofRow(decoder.decode(Messages.of(one.toByteArray)), columns), plain(one))
        val both = one.toByteArray ++ other.toByteArray
        assertEquals[Any, Any](Plain.ofRow(decoder.decode(Messages.of(both)), columns),
          plain(DynamicMessage.parseFrom(message, both)))
      }
    }
  }

  property("messages that were read are written back unchanged") {
    forAll(seeds) { seed =>
      val generators = new ProtobufGenerators(new Random(seed))
      val message    = generators.message()
      val columns    = SchemaTranslation.toStruct(Messages.topic, schema(message))
      val decoder    = Messages.decoder(schema(message), columns)
      val shuffled   = StructType(new Random(seed).shuffle(columns.fields.toSeq))
      val plan       = WritePlanner(shuffled, Some(Messages.topic), Some(schema(message)), "auto")
      val encoder    = new RowEncoder(plan)
      assertEquals(plan.schema, schema(message))
      (0 until 5).foreach { _ =>
        val one   = generators.value(message)
        val row   = decoder.decode(Messages.of(one.toByteArray))
        val moved = InternalRow.fromSeq(shuffled.fields.toSeq.map(f => row.get(columns.fieldIndex(f.name), f.dataType)))
        val written = encoder.encode(moved).value
        assertEquals[Any, Any](plain(DynamicMessage.parseFrom(message, written)), plain(one))
      }
    }
  }

  private def notWritten(columns: StructType, row: InternalRow, text: String)(implicit loc: munit.Location): Unit = {
    import Label._
    import Type._
    val m = message(("n", 1, TYPE_INT32, LABEL_OPTIONAL), ("u", 2, TYPE_UINT64, LABEL_OPTIONAL),
      ("l", 3, TYPE_STRING, LABEL_REPEATED))
    val error = intercept[RuntimeException] {
      new RowEncoder(WritePlanner(columns, Some(Messages.topic), Some(schema(m)), "auto")).encode(row)
      ()
    }
    assert(error.getMessage.contains(text), error.getMessage)
  }

  test("a column or value that does not fit is refused by name") {
    val int = new StructType().add("n", IntegerType)
    notWritten(int.add("x", LongType), InternalRow(1, 2L), "[PULSAR_WRITE_COLUMN_MISMATCH] Column `x`")
    notWritten(new StructType().add("n", DateType), InternalRow(1), "the field is int32, the column is DATE")
    notWritten(new StructType().add("n", NullType), InternalRow(null), "[PULSAR_WRITE_NULL_VALUE] Field `n`")
    notWritten(new StructType().add("l", StringType), InternalRow(null),
      "the field is string, repeated, the column is STRING")
    notWritten(int, InternalRow(null), "[PULSAR_WRITE_NULL_VALUE] Field `n`")
    notWritten(new StructType().add("l", ArrayType(StringType)), InternalRow(null),
      "[PULSAR_WRITE_NULL_VALUE] Field `l`")
    notWritten(
      new StructType().add("u", LongType),
      InternalRow(-1L),
      "holds -1, which its schema, uint64, cannot hold: it is not a number of 64 bits without sign"
    )
  }

  property("a read of some columns returns what a read of all does") {
    forAll(seeds) { seed =>
      val random     = new Random(seed)
      val generators = new ProtobufGenerators(random)
      val message    = generators.message()
      val columns    = SchemaTranslation.toStruct(Messages.topic, schema(message))
      val some       = StructType(columns.fields.filter(_ => random.nextBoolean()))
      val decoder    = Messages.decoder(schema(message), some)
      (0 until 5).foreach { _ =>
        val both     = generators.value(message).toByteArray ++ generators.value(message).toByteArray
        val expected = plain(DynamicMessage.parseFrom(message, both)).filter(f => some.fieldNames.contains(f._1))
        assertEquals[Any, Any](Plain.ofRow(decoder.decode(Messages.of(both)), some), expected)
      }
    }
  }

  property("a damaged value is a row or a named error") {
    forAll(seeds) { seed =>
      val random     = new Random(seed)
      val generators = new ProtobufGenerators(random)
      val message    = generators.message()
      val columns    = SchemaTranslation.toStruct(Messages.topic, schema(message))
      val decoder    = Messages.decoder(schema(message), columns)
      val bytes      = generators.value(message).toByteArray
      val damaged    = bytes.take(random.nextInt(bytes.length + 1)).map(b =>
        if (random.nextInt(8) == 0) random.nextInt().toByte else b
      )
      try { decoder.decode(Messages.of(damaged)); () }
      catch { case e: PulsarError => assertEquals(e.condition, "PULSAR_VALUE_NOT_DECODABLE") }
    }
  }

  private def refused(schema: TopicSchema, text: String)(implicit loc: munit.Location): Unit = {
    val error = intercept[IllegalArgumentException](SchemaTranslation.toStruct(Messages.topic, schema))
    assert(error.getMessage.contains("[PULSAR_SCHEMA_NOT_READABLE]") && error.getMessage.contains(text),
      error.getMessage)
  }

  test("a schema that cannot be columns is refused with the field") {
    val recursive = StructProto.getDescriptor.findMessageTypeByName("Struct")
    refused(schema(recursive), "field `fields{}.struct_value`: message google.protobuf.Struct contains itself")
    refused(schema(DescriptorProtos.DescriptorProto.getDescriptor), "contains itself")
    refused(TopicSchema("PROTOBUF_NATIVE", "{}"), "its definition has no fileDescriptorSet")
    refused(TopicSchema("PROTOBUF_NATIVE", "no JSON"), "its definition has no descriptor of a message")
  }

  test("a map whose entries lack their key or value is refused with the field") {
    for ((has, lacks) <- Seq(1 -> 2, 2 -> 1)) {
      val part  = FieldDescriptorProto.newBuilder.setName("part").setNumber(has).setType(Type.TYPE_STRING)
      val entry = DescriptorProto.newBuilder.setName("SizesEntry").addField(part)
        .setOptions(MessageOptions.newBuilder.setMapEntry(true))
      val sizes = FieldDescriptorProto.newBuilder.setName("sizes").setNumber(1).setType(Type.TYPE_MESSAGE)
        .setTypeName(".M.SizesEntry").setLabel(Label.LABEL_REPEATED)
      val m    = DescriptorProto.newBuilder.setName("M").addField(sizes).addNestedType(entry)
      val file = FileDescriptorProto.newBuilder.setName("m").setSyntax("proto3").addMessageType(m).build
      val map  = FileDescriptor.buildFrom(file, Array.empty[FileDescriptor]).findMessageTypeByName("M")
      refused(schema(map), s"field `sizes`: the entries of its map have no field $lacks")
    }
  }

  private def message(fields: (String, Int, Type, Label)*): Descriptor = {
    val m = DescriptorProto.newBuilder.setName("M")
    fields.foreach { case (name, number, t, label) =>
      m.addField(FieldDescriptorProto.newBuilder.setName(name).setNumber(number).setType(t).setLabel(label))
    }
    FileDescriptor.buildFrom(
      FileDescriptorProto.newBuilder.setName("m").setSyntax("proto3").addMessageType(m).build,
      Array.empty[FileDescriptor]
    )
      .findMessageTypeByName("M")
  }

  test("fields of other versions are matched by number, not by name") {
    import Label._
    import Type._
    val reader =
      schema(message(("a", 1, TYPE_INT64, LABEL_OPTIONAL), ("b", 2, TYPE_STRING, LABEL_REPEATED),
        ("c", 3, TYPE_BOOL, LABEL_OPTIONAL)))
    val old = message(("x", 1, TYPE_INT32, LABEL_OPTIONAL), ("y", 2, TYPE_STRING, LABEL_OPTIONAL),
      ("gone", 9, TYPE_INT32, LABEL_OPTIONAL))
    val columns = SchemaTranslation.toStruct(Messages.topic, reader)
    val value   = DynamicMessage.newBuilder(old)
    old.getFields.asScala.zip(Seq[Any](-7, "text", 1)).foreach { case (f, v) => value.setField(f, v) }
    val row = Messages.decoder(reader, columns, _ => schema(old)).decode(
      Messages.of(value.build.toByteArray, Messages.version(0))
    )
    assertEquals[Any, Any](Plain.ofRow(row, columns), Map[String, Any]("a" -> -7L, "b" -> Vector("text"), "c" -> false))
  }

  test("a number that means something else in another version is an error of its own") {
    import Label._
    import Type._
    def fails(written: (Type, Label), read: (Type, Label), reason: String) = {
      val reader  = schema(message(("a", 1, read._1, read._2)))
      val columns = SchemaTranslation.toStruct(Messages.topic, reader)
      val decoder = Messages.decoder(reader, columns, _ => schema(message(("a", 1, written._1, written._2))))
      val error   = intercept[RuntimeException](decoder.decode(Messages.of(Array.emptyByteArray, Messages.version(0))))
      assert(error.getMessage.contains("[PULSAR_SCHEMA_NOT_RESOLVABLE]") && error.getMessage.contains(reason),
        error.getMessage)
    }
    fails(TYPE_INT64  -> LABEL_OPTIONAL, TYPE_INT32 -> LABEL_OPTIONAL, "field 1 is int64 there and int32 here")
    fails(TYPE_STRING -> LABEL_OPTIONAL, TYPE_INT32 -> LABEL_OPTIONAL, "field 1 is string there and int32 here")
    fails(TYPE_INT32 -> LABEL_REPEATED, TYPE_INT32 -> LABEL_OPTIONAL, "field 1 is int32, repeated there and int32 here")
  }
}
