package io.github.pulsarspark.schema.rows

import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._
import scala.util.Try

import com.google.protobuf.{DurationProto, TimestampProto, WrappersProto}
import com.google.protobuf.DescriptorProtos.{DescriptorProto, FieldDescriptorProto, FileDescriptorProto}
import com.google.protobuf.Descriptors.FileDescriptor
import org.apache.spark.sql.types._

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.schema.TopicSchema
import io.github.pulsarspark.schema.avro.{AvroSchemaOfColumns, AvroSchemas}
import io.github.pulsarspark.schema.primitive.PrimitiveFormat
import io.github.pulsarspark.schema.protobuf.ProtobufSchemas

/** Compares the tables in docs/use/schemas.md with the code. */
class SchemaTableSuite extends UnitSuite {

  private val page =
    Seq(Path.of("docs/use/schemas.md"), Path.of("../docs/use/schemas.md")).find(Files.exists(_)).getOrElse(
      fail("the page is not here")
    )

  private val codes = "`([^`]+)`".r

  /** The rows of the tables under a heading: for each cell the texts in code style, and the cell. */
  private def rows(heading: String): Seq[Seq[(Seq[String], String)]] =
    Files.readAllLines(page).asScala.toSeq
      .dropWhile(_ != s"## $heading")
      .drop(1)
      .takeWhile(!_.startsWith("## "))
      .filter(_.startsWith("| `"))
      .map(_.stripPrefix("|").stripSuffix("|").split('|').toSeq.map(c =>
        codes.findAllMatchIn(c).map(_.group(1)).toSeq -> c.trim
      ))

  private def columnOf(dataType: DataType) = new StructType().add("value", dataType)

  private val candidates: Seq[DataType] =
    Seq(BooleanType, ByteType, ShortType, IntegerType, LongType, FloatType, DoubleType, StringType, BinaryType,
      DateType, TimestampType) ++
      Seq(TimestampNTZType, DecimalType(20, 0), ArrayType(IntegerType), MapType(StringType, IntegerType),
        DayTimeIntervalType())

  private def writable(schemaType: String): Set[DataType] =
    candidates.filter(t =>
      Try(WritePlanner(columnOf(t), Some(Messages.topic), Some(TopicSchema(schemaType)), schemaType)).isSuccess
    ).toSet

  private def parsed(name: String): DataType = DataType.fromDDL(name)

  test("simple values") {
    val simple = rows("Simple values")
    assertEquals(simple.flatMap(_.head._1).toSet, PrimitiveFormat.schemaTypes)
    for (Seq((names, _), (Seq(read), _), (_, written), _) <- simple; name <- names) {
      assertEquals(SchemaTranslation.toStruct(Messages.topic, TopicSchema(name)), columnOf(parsed(read)), name)
      val named = codes.findAllMatchIn(written.replace("**`auto`**", "")).map(m => parsed(m.group(1))).toSet
      val types = named ++ candidates.filter(t => written.endsWith("any number") && t.isInstanceOf[NumericType])
      // NONE and BYTES are no schemas to keep to, so what is written there is the column's own.
      if (name != "NONE" && name != "BYTES") assertEquals(writable(name), types, name)
      val marked =
        written.split(',').filter(_.contains("**`auto`**")).map(t => parsed(codes.findFirstMatchIn(t).get.group(1)))
      marked.filter(_ => name != "NONE").foreach { t =>
        assertEquals(WritePlanner(columnOf(t), Some(Messages.topic), None, "auto").schema.schemaType, name)
      }
    }
    val automatic = simple.flatMap(r => r(2)._2.split(',').filter(_.contains("**`auto`**")))
    assertEquals(automatic.size, candidates.count(PrimitiveFormat.schemaType(_).isDefined))
  }

  test("Avro") {
    for (Seq((avro, _), (Seq(read), _), (made, _)) <- rows("AVRO and JSON").map(_.padTo(3, Seq.empty[String] -> ""))) {
      val field = avro match {
        case Seq(name, logical) => s"""{"type":"$name","logicalType":"$logical"}"""
        case Seq(name)          => s"\"$name\""
        case other              => fail(s"$other")
      }
      def record(field: String) = s"""{"type":"record","name":"Row","fields":[{"name":"value","type":$field}]}"""
      for (kind <- Seq("AVRO", "JSON"))
        assertEquals(SchemaTranslation.toStruct(Messages.topic, TopicSchema(kind, record(field))),
          columnOf(parsed(read)), field)
      made.foreach { t =>
        val column = new StructType().add("value", parsed(t), nullable = false)
        assertEquals(AvroSchemaOfColumns(column), AvroSchemas.parse(record(field)), field)
      }
    }
  }

  test("protobuf") {
    import FieldDescriptorProto.{Label, Type}
    val needed = Seq(TimestampProto.getDescriptor, DurationProto.getDescriptor, WrappersProto.getDescriptor)
    for (Seq((names, _), (Seq(read), _)) <- rows("PROTOBUF_NATIVE"); name <- names) {
      val field = FieldDescriptorProto.newBuilder.setName("value").setNumber(1).setLabel(Label.LABEL_OPTIONAL)
      if (name.contains('.')) field.setType(Type.TYPE_MESSAGE).setTypeName(s".$name")
      else field.setType(Type.valueOf(s"TYPE_${name.toUpperCase}"))
      val file = FileDescriptorProto.newBuilder.setName(
        "a"
      ).setSyntax("proto2").addMessageType(DescriptorProto.newBuilder.setName("M").addField(field))
      needed.foreach(d => file.addDependency(d.getName))
      val message = FileDescriptor.buildFrom(file.build, needed.toArray).findMessageTypeByName("M")
      assertEquals(ProtobufSchemas.sparkType(message), columnOf(parsed(read)), name)
    }
    val scalars = Type.values.map(_.name.stripPrefix("TYPE_").toLowerCase).toSet -- Set("enum", "message", "group")
    assertEquals(rows("PROTOBUF_NATIVE").flatMap(_.head._1).filterNot(_.contains('.')).toSet, scalars)
  }
}
