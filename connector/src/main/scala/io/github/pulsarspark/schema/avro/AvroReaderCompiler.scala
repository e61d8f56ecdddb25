package io.github.pulsarspark.schema.avro

import java.io.ByteArrayOutputStream

import scala.jdk.CollectionConverters._

import org.apache.avro.{LogicalTypes, Resolver, Schema}
import org.apache.avro.Resolver._
import org.apache.avro.Schema.Type
import org.apache.avro.generic.{GenericData, GenericDatumWriter}
import org.apache.avro.io.EncoderFactory
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import io.github.pulsarspark.schema.avro.AvroSchemas._
import io.github.pulsarspark.schema.convert.{DecimalConversion, UnresolvableSchema}

/** Compiles the tree of readers for one writer's schema. Avro's own rules map the writer's schema to the reader's
  * (names, aliases, promotions, defaults, enums, unions); the Spark type decides which fields are read, and as which
  * types.
  */
private[schema] object AvroReaderCompiler {

  /** @param required
    *   the Spark type of `reader`, or of a part of its fields
    */
  def compile(writer: Schema, reader: Schema, required: DataType): AvroReader =
    compile(tolerant(Resolver.resolve(writer, project(reader, required), ExactGenericData)), required)

  /** The value of a field's default as Spark holds it. */
  def default(field: Schema.Field, required: DataType): Any = {
    val out     = new ByteArrayOutputStream
    val encoder = EncoderFactory.get.directBinaryEncoder(out, null)
    new GenericDatumWriter[Any](field.schema).write(ExactGenericData.getDefaultValue(field), encoder)
    val bytes = out.toByteArray
    compile(field.schema, field.schema, required).value(new AvroInput().reset(bytes, 0, bytes.length))
  }

  /** The reader's schema with the requested fields alone, so that the rest is skipped. */
  private def project(schema: Schema, required: DataType): Schema = (schema.getType, required) match {
    case (Type.RECORD, struct: StructType) =>
      val names  = struct.fieldNames.toSet
      val fields =
        schema.getFields.asScala.filter(f => names(f.name)).map(f =>
          new Schema.Field(f, project(f.schema, struct(f.name).dataType))
        )
      val record =
        Schema.createRecord(schema.getName, schema.getDoc, schema.getNamespace, schema.isError, fields.asJava)
      schema.getAliases.asScala.foreach(record.addAlias(_))
      record
    case (Type.ARRAY, ArrayType(item, _)) => Schema.createArray(project(schema.getElementType, item))
    case (Type.MAP, MapType(_, value, _)) => Schema.createMap(project(schema.getValueType, value))
    case (Type.UNION, _)                  =>
      val types                     = schema.getTypes.asScala.toSeq
      val asked: Map[Int, DataType] = (shape(schema), required) match {
        case (Members(members, _), struct: StructType) =>
          members.zipWithIndex.flatMap { case (branch, i) =>
            struct.find(_.name == memberName(i)).map(branch -> _.dataType)
          }.toMap
        case (Single(branch, _), other) => Map(branch -> other)
        case _                          => Map.empty
      }
      Schema.createUnion(types.zipWithIndex.map { case (t, i) => asked.get(i).fold(t)(project(t, _)) }.asJava)
    case _ => schema
  }

  private def compile(action: Action, required: DataType): AvroReader = action match {
    case union: WriterUnion =>
      new AvroReader.Union(union.actions.zipWithIndex.map {
        case (a, i) if union.unionEquiv => branch(a, union.reader, i, required)
        case (a, _)                     => compile(a, required)
      })
    case union: ReaderUnion   => branch(union.actualAction, union.reader, union.firstMatch, required)
    case record: RecordAdjust => required match {
        case struct: StructType => compileRecord(record, struct)
        case other              => unexpected(action, other)
      }
    case container: Container => required match {
        case ArrayType(item, _)   => new AvroReader.Sequence(compile(container.elementAction, item))
        case MapType(_, value, _) => new AvroReader.Mapping(compile(container.elementAction, value))
        case other                => unexpected(action, other)
      }
    case enumeration: EnumAdjust => compileEnum(enumeration)
    case failure: ErrorAction    => new AvroReader.Unresolvable(failure.toString)
    case _                       => leaf(action.writer, action.reader, required)
  }

  /** Branch `index` of the reader's union `reader`, which may be shown as a struct of members. */
  private def branch(action: Action, reader: Schema, index: Int, required: DataType): AvroReader =
    (shape(reader), required) match {
      case _ if reader.getTypes.get(index).getType == Type.NULL => AvroReader.Null
      case (Members(members, _), struct: StructType)            =>
        val name    = memberName(members.indexOf(index))
        val ordinal = struct.fieldNames.indexOf(name)
        val value   = if (ordinal < 0) AvroSkipper(action.writer) else compile(action, struct(ordinal).dataType)
        new AvroReader.Member(value, ordinal, struct.size)
      case _ => compile(action, required)
    }

  private def compileRecord(record: RecordAdjust, required: StructType): AvroReader.Record = {
    val readerFields = record.readerOrder.iterator
    val fields       = record.fieldActions.map {
      case skip: Skip => (AvroSkipper(skip.writer), -1)
      case action     =>
        val ordinal = required.fieldNames.indexOf(readerFields.next().name)
        if (ordinal < 0) (AvroSkipper(action.writer), -1) else (compile(action, required(ordinal).dataType), ordinal)
    }
    val (steps, ordinals) = fields
      .foldLeft(Vector.empty[(AvroReader, Int)]) {
        case (before :+ ((one: AvroSkipper, _)), (next: AvroSkipper, _)) => before :+ ((one.andThen(next), -1))
        case (before, next)                                              => before :+ next
      }
      .toArray
      .unzip
    val defaults = for {
      field <- record.readerOrder.drop(record.firstDefault)
      ordinal = required.fieldNames.indexOf(field.name) if ordinal >= 0
    } yield (ordinal, default(field, required(ordinal).dataType))
    new AvroReader.Record(steps, ordinals, defaults, required.size)
  }

  private def compileEnum(action: EnumAdjust): AvroReader = {
    val symbols = action.reader.getEnumSymbols.asScala.map(UTF8String.fromString).toArray
    new AvroReader.Enum(action.adjustments.map(i => if (i < 0) null else symbols(i)),
      action.writer.getEnumSymbols.asScala.toSeq)
  }

  private def leaf(writer: Schema, reader: Schema, required: DataType): AvroReader = (writer.getType, required) match {
    case (Type.NULL, _)                                                      => AvroReader.Null
    case (Type.BOOLEAN, BooleanType)                                         => AvroReader.Bool
    case (Type.INT, IntegerType | DateType)                                  => AvroReader.IntAsInt
    case (Type.INT | Type.LONG, LongType | TimestampType | TimestampNTZType) =>
      val scaling = AvroTimeUnit.scaling(writer, reader)
      if (scaling.factor != 1 || scaling.divisor != 1) new AvroReader.Time(scaling)
      else if (writer.getType == Type.INT) AvroReader.IntAsLong
      else AvroReader.LongAsLong
    case (Type.INT, FloatType)                      => AvroReader.IntAsFloat
    case (Type.INT, DoubleType)                     => AvroReader.IntAsDouble
    case (Type.LONG, FloatType)                     => AvroReader.LongAsFloat
    case (Type.LONG, DoubleType)                    => AvroReader.LongAsDouble
    case (Type.FLOAT, FloatType)                    => AvroReader.FloatAsFloat
    case (Type.FLOAT, DoubleType)                   => AvroReader.FloatAsDouble
    case (Type.DOUBLE, DoubleType)                  => AvroReader.DoubleAsDouble
    case (Type.STRING | Type.BYTES, _: StringType)  => AvroReader.Text
    case (Type.STRING | Type.BYTES, BinaryType)     => AvroReader.Binary
    case (Type.FIXED, BinaryType)                   => new AvroReader.Fixed(writer.getFixedSize)
    case (Type.STRING | Type.BYTES, d: DecimalType) => new AvroReader.Decimal(-1, decimals(writer, d))
    case (Type.FIXED, d: DecimalType)               => new AvroReader.Decimal(writer.getFixedSize, decimals(writer, d))
    case _ => throw new UnresolvableSchema(s"${writer.getFullName} cannot be read as ${required.sql}")
  }

  /** Scale of a decimal: the writer's, if its schema has one. */
  private def decimals(writer: Schema, required: DecimalType) = writer.getLogicalType match {
    case d: LogicalTypes.Decimal => new DecimalConversion(d.getScale, required)
    case _                       => new DecimalConversion(required.scale, required)
  }

  private def unexpected(action: Action, required: DataType) =
    throw new UnresolvableSchema(s"${action.writer.getFullName} cannot be read as ${required.sql}")
}

/** Avro's generic data with arrays that keep their values unchanged: those of Avro 1.12.0 cut doubles to floats
  * (AVRO-2108).
  */
private[schema] object ExactGenericData extends GenericData {
  override def newArray(old: Any, size: Int, schema: Schema): AnyRef = new GenericData.Array[Any](size, schema)
}
