package io.github.pulsarspark.schema.json

import scala.jdk.CollectionConverters._

import org.apache.avro.{LogicalTypes, Schema}
import org.apache.avro.Schema.Type
import org.apache.spark.sql.types._

import io.github.pulsarspark.schema.avro.AvroSchemas._
import io.github.pulsarspark.schema.avro.{AvroReaderCompiler, AvroTimeUnit}
import io.github.pulsarspark.schema.convert.{DecimalConversion, UnresolvableSchema}

/** Compiles the tree of JSON readers for one writer's schema. JSON names its fields, so the reader's schema decides
  * alone what is read; the writer's decides the name of a field, the unit of a time, and the value of a field that it
  * lacks.
  */
private[schema] object JsonReaderCompiler {

  /** @param required
    *   the Spark type of `reader`, or of a part of its fields
    */
  def compile(writer: Schema, reader: Schema, required: DataType): JsonReader =
    compile(Option(writer), reader, required)

  /** `writer` is None where its schema has nothing that matches: the reader's is all there is to go by. */
  private def compile(writer: Option[Schema], reader: Schema, required: DataType): JsonReader =
    (reader.getType, required) match {
      case (Type.UNION, _)                   => union(writer, reader, required)
      case (Type.RECORD, struct: StructType) => record(writer.flatMap(of(_, Type.RECORD)), reader, struct)
      case (Type.ARRAY, ArrayType(item, _))  =>
        new JsonReader.Sequence(
          compile(writer.flatMap(of(_, Type.ARRAY)).map(_.getElementType), reader.getElementType, item)
        )
      case (Type.MAP, MapType(_, value, _)) =>
        new JsonReader.Mapping(compile(writer.flatMap(of(_, Type.MAP)).map(_.getValueType), reader.getValueType, value))
      case (Type.NULL, _)                                                  => JsonReader.Null
      case (_, BooleanType)                                                => JsonReader.Bool
      case (_, DateType)                                                   => JsonTime.Date
      case (_, IntegerType) if logicalType(reader).contains("time-millis") => JsonTime.MillisOfDay
      case (_, IntegerType)                                                => JsonReader.AsInt
      case (_, LongType | TimestampType | TimestampNTZType)                =>
        val scaling =
          AvroTimeUnit.scaling(writer.flatMap(w => of(w, Type.LONG).orElse(of(w, Type.INT))).getOrElse(reader), reader)
        long(scaling, reader)
      case (_, FloatType)           => JsonReader.AsFloat
      case (_, DoubleType)          => JsonReader.AsDouble
      case (_, _: StringType)       => JsonReader.Text
      case (Type.FIXED, BinaryType) => new JsonReader.Binary(reader.getFixedSize)
      case (_, BinaryType)          => new JsonReader.Binary(-1)
      case (_, d: DecimalType)      =>
        val source = writer.flatMap(w => of(w, Type.BYTES).orElse(of(w, Type.FIXED))).getOrElse(reader)
        if (isOfConnect(source)) new JsonReader.UnscaledDecimal(new DecimalConversion(scale(source, d), d), d)
        else new JsonReader.Decimal(new DecimalConversion(d.scale, d))
      case _ => throw new UnresolvableSchema(s"${reader.getFullName} cannot be read as ${required.sql}")
    }

  private def logicalType(schema: Schema) = Option(schema.getLogicalType).map(_.getName)

  private def long(scaling: AvroTimeUnit.Scaling, reader: Schema): JsonReader = logicalType(reader) match {
    case Some("timestamp-millis" | "timestamp-micros")             => new JsonTime.Instant(scaling(_), JsonTime.micros)
    case Some("timestamp-nanos")                                   => new JsonTime.Instant(scaling(_), JsonTime.nanos)
    case Some("local-timestamp-millis" | "local-timestamp-micros") => new JsonTime.Local(scaling(_), JsonTime.micros)
    case Some("local-timestamp-nanos")                             => new JsonTime.Local(scaling(_), JsonTime.nanos)
    case Some("time-micros")                                       => new JsonTime.OfDay(1000L, scaling(_))
    case _                                                         => JsonReader.AsLong
  }

  /** True for JSON of Kafka Connect's converter, whose definitions declare decimals as bytes. */
  private def isOfConnect(schema: Schema) =
    schema.getObjectProp("connect.name") == "org.apache.kafka.connect.data.Decimal"

  private def scale(schema: Schema, required: DecimalType) = schema.getLogicalType match {
    case d: LogicalTypes.Decimal => d.getScale
    case _                       => required.scale
  }

  /** `schema`, or the branch of it, that has this type. */
  private def of(schema: Schema, required: Type): Option[Schema] = schema.getType match {
    case Type.UNION => schema.getTypes.asScala.find(_.getType == required)
    case t          => Option.when(t == required)(schema)
  }

  private def record(writer: Option[Schema], reader: Schema, required: StructType): JsonReader.Record = {
    // The columns may be those of several topics.
    val known   = required.fields.zipWithIndex.filter(w => reader.getField(w._1.name) != null)
    val fields  = known.map(w => reader.getField(w._1.name))
    val sources =
      fields.map(f =>
        writer.flatMap(w => (f.name +: f.aliases.asScala.toSeq).flatMap(name => Option(w.getField(name))).headOption)
      )
    new JsonReader.Record(
      fields.zip(sources).map { case (f, source) => source.fold(f.name)(_.name) },
      fields.zip(sources).zip(known).map { case ((f, source), (w, _)) =>
        compile(source.map(_.schema), f.schema, w.dataType)
      },
      known.map(_._2),
      fields.zip(sources).zip(known).map { case ((f, source), (w, _)) =>
        // A field that its writer knew and omitted is null. One that was added later has its default.
        if (writer.isDefined && source.isEmpty && f.hasDefaultValue) AvroReaderCompiler.default(f, w.dataType) else null
      },
      required.size
    )
  }

  private def union(writer: Option[Schema], reader: Schema, required: DataType): JsonReader =
    (shape(reader), required) match {
      case (Single(index, _), _)     => branch(writer, reader.getTypes.get(index), required)
      case (Widened(_, _), LongType) =>
        new JsonReader.Branch(Set("int", "long"), JsonReader.AsLong, plainObject = false)
      case (Widened(_, _), DoubleType) =>
        new JsonReader.Branch(Set("float", "double"), JsonReader.AsDouble, plainObject = false)
      case (Members(members, _), struct: StructType) =>
        new JsonMembers(
          members.zipWithIndex.map { case (index, i) =>
            val schema  = reader.getTypes.get(index)
            val ordinal = struct.fieldNames.indexOf(memberName(i))
            val shown   = if (ordinal < 0) sparkType(schema) else struct(ordinal).dataType
            new JsonMembers.Member(schema, compile(writer, schema, shown), ordinal)
          },
          struct.size
        )
      case _ => throw new UnresolvableSchema(s"a union cannot be read as ${required.sql}")
    }

  private def branch(writer: Option[Schema], schema: Schema, required: DataType): JsonReader = {
    val plain = compile(writer, schema, required)
    schema.getType match {
      /* Any key can be in a map, and a field can be called like its record: then there is no telling, and the plain
       * form is meant. */
      case Type.MAP                                                   => plain
      case Type.RECORD if schema.getField(schema.getFullName) != null => plain
      case other => new JsonReader.Branch(Set(schema.getFullName), plain, plainObject = other == Type.RECORD)
    }
  }
}
