package io.github.pulsarspark.schema

import scala.util.Try
import scala.util.control.NonFatal

import com.google.protobuf.Descriptors.Descriptor
import org.apache.avro.Schema
import org.apache.spark.sql.types._

import io.github.pulsarspark.errors.PulsarErrors
import io.github.pulsarspark.schema.avro.AvroSchemas
import io.github.pulsarspark.schema.columns.MetadataColumns
import io.github.pulsarspark.schema.keyvalue.KeyValueSchema
import io.github.pulsarspark.schema.protobuf.{ProtobufParsingInfo, ProtobufSchemas, ProtobufWidening}

/** Pulsar's schemas as Spark types. Pure functions of their arguments. */
object SchemaTranslation {

  /** Name of the only value column of a topic whose values are not records. */
  val ValueColumn: String = "value"

  /** DATE, TIME and TIMESTAMP are classes around milliseconds since 1970, so a DATE is a moment and not a day. Times of
    * day are shown as the number that is stored, like those of Avro: not every Spark has a type for them, and none that
    * holds nanoseconds.
    */
  private val primitives: Map[String, DataType] = Map(
    "NONE"            -> BinaryType,
    "BYTES"           -> BinaryType,
    "STRING"          -> StringType,
    "BOOLEAN"         -> BooleanType,
    "INT8"            -> ByteType,
    "INT16"           -> ShortType,
    "INT32"           -> IntegerType,
    "INT64"           -> LongType,
    "FLOAT"           -> FloatType,
    "DOUBLE"          -> DoubleType,
    "DATE"            -> TimestampType,
    "TIME"            -> LongType,
    "TIMESTAMP"       -> TimestampType,
    "INSTANT"         -> TimestampType,
    "LOCAL_DATE"      -> DateType,
    "LOCAL_TIME"      -> LongType,
    "LOCAL_DATE_TIME" -> TimestampNTZType
  )

  private[schema] val primitiveTypes: Set[String] = primitives.keySet

  /** The Spark type of a schema type that is not made of fields; None for all others. */
  private[schema] def primitive(schemaType: String): Option[DataType] = primitives.get(schemaType)

  /** The value columns of a topic, all nullable because any message can be a tombstone. A record's fields are columns,
    * any other value is one column `value`.
    */
  def toStruct(topic: String, schema: TopicSchema): StructType = schema.schemaType match {
    case PrimitiveType(dataType)                      => StructType(Seq(StructField(ValueColumn, dataType)))
    case "PROTOBUF_NATIVE" | ProtobufParsingInfo.Type => columns(topic, schema, identity)
    case KeyValueSchema.Type                          =>
      val parts = KeyValueSchema.of(schema)
      StructType(
        Seq(part(topic, KeyValueSchema.KeyColumn, parts.key), part(topic, KeyValueSchema.ValueColumn, parts.value))
      )
    case "AVRO" =>
      columns(topic, schema, identity)
    case "JSON" =>
      // Nothing checks JSON when it is written, and Java's writer leaves out what is null: any field may be absent.
      columns(topic, schema, asNullable)
    case _ => throw unsupported(topic, schema)
  }

  /** A record is a struct there. */
  private def part(topic: String, name: String, schema: TopicSchema): StructField = {
    if (schema.schemaType == KeyValueSchema.Type) throw unsupported(topic, schema)
    StructField(name, toType(topic, schema))
  }

  /** A value of a topic as one column: one with fields is a struct. */
  def toType(topic: String, schema: TopicSchema): DataType = {
    val columns = toStruct(topic, schema)
    if (hasFields(topic, schema)) columns else columns.head.dataType
  }

  private object PrimitiveType {
    def unapply(schemaType: String): Option[DataType] = primitive(schemaType)
  }

  private def isProtobuf(schema: TopicSchema) = schema.schemaType == "PROTOBUF_NATIVE" ||
    schema.schemaType == ProtobufParsingInfo.Type

  private[schema] def unsupported(topic: String, schema: TopicSchema): RuntimeException =
    PulsarErrors(
      "PULSAR_SCHEMA_TYPE_NOT_SUPPORTED",
      "topic"      -> topic,
      "schemaType" -> schema.schemaType
    )

  /** The Avro schema that AVRO and JSON schemas are described by. */
  private[schema] def avroSchema(topic: String, schema: TopicSchema): Schema =
    try AvroSchemas.parse(schema.definition)
    catch {
      case NonFatal(e) => throw notReadable(topic, schema, s"its definition is not an Avro schema: ${e.getMessage}")
    }

  /** What a PROTOBUF_NATIVE or PROTOBUF schema itself says of its message. */
  private[schema] def declaredMessage(topic: String, schema: TopicSchema): Descriptor =
    parsed(topic, schema)(if (schema.schemaType == ProtobufParsingInfo.Type) ProtobufParsingInfo.declared(schema)
    else ProtobufSchemas.parse(schema.definition))

  /** The message of a PROTOBUF_NATIVE or PROTOBUF schema, as the user describes it or as the schema does; fails when
    * one of the wanted fields is not known well enough.
    */
  private[schema] def message(topic: String, schema: TopicSchema, wanted: Seq[String]): Descriptor = {
    val found = schema.message.fold(declaredMessage(topic, schema))(own =>
      parsed(topic, schema)(ProtobufSchemas.parse(own))
    )
    wanted.flatMap(name => Option(found.findFieldByName(name))).find(!ProtobufParsingInfo.isComplete(_)).foreach { f =>
      throw PulsarErrors("PULSAR_PROTOBUF_FIELD_UNKNOWN", "topic" -> topic, "field" -> f.getName,
        "type"                                                    -> ProtobufWidening.text(f))
    }
    found
  }

  /** Fails when `wanted` has a field of a message that cannot be read. */
  def checkKnown(topic: String, schema: TopicSchema, wanted: StructType): Unit =
    if (isProtobuf(schema)) { message(topic, schema, wanted.fieldNames.toSeq); () }

  /** A PROTOBUF schema with what the user says of its message.
    *
    * @param files
    *   a FileDescriptorSet, from the file `source`
    */
  def described(topic: String, own: TopicSchema, source: String, files: Array[Byte], message: String): TopicSchema = {
    def refused(reason: String) =
      PulsarErrors("PULSAR_PROTOBUF_DESCRIPTOR", "message" -> message, "source" -> source, "topic" -> topic,
        "reason"                                           -> reason)
    if (own.schemaType != ProtobufParsingInfo.Type)
      throw refused(s"its schema is of type ${own.schemaType}, and only PROTOBUF lacks a descriptor")
    val definition =
      try ProtobufSchemas.definition(files, message)
      catch {
        case e: AvroSchemas.NotReadable => throw refused(e.getMessage)
        case NonFatal(e)                => throw refused(s"the file is not a FileDescriptorSet: ${e.getMessage}")
      }
    val found =
      try ProtobufSchemas.parse(definition)
      catch {
        case NonFatal(e) => throw refused(s"${e.getMessage} (protoc puts imports into the file with --include_imports)")
      }
    parsed(topic, own)(ProtobufParsingInfo.disagreement(own, found)).foreach(reason => throw refused(reason))
    own.copy(message = Some(definition))
  }

  private def parsed[T](topic: String, schema: TopicSchema)(body: => T): T =
    try body
    catch {
      case e: AvroSchemas.NotReadable => throw notReadable(topic, schema, e.getMessage)
      case NonFatal(e)                =>
        throw notReadable(topic, schema, s"its definition has no descriptor of a message: ${e.getMessage}")
    }

  /** The schema of a topic with a definition of the user's to read it by. */
  def pinned(topic: String, own: TopicSchema, definition: String): TopicSchema = {
    def wrong(option: String, value: String, allowed: String) =
      PulsarErrors("PULSAR_OPTION_INVALID", "option" -> option, "given" -> value, "allowed" -> allowed)
    if (own.schemaType != "AVRO" && own.schemaType != "JSON")
      throw wrong("schemaMode", "pinned", s"auto or raw for topic $topic, whose schema is of type ${own.schemaType}")
    try AvroSchemas.parse(definition)
    catch { case NonFatal(e) => throw wrong("readerSchema", definition, s"an Avro schema as JSON; ${e.getMessage}") }
    own.copy(definition = definition, version = Nil, isPinned = true)
  }

  private def columns(topic: String, schema: TopicSchema, nullability: DataType => DataType): StructType = {
    val dataType =
      try if (isProtobuf(schema)) ProtobufSchemas.sparkType(message(topic, schema, Nil))
        else AvroSchemas.sparkType(avroSchema(topic, schema))
      catch { case e: AvroSchemas.NotReadable => throw notReadable(topic, schema, e.getMessage) }
    val fields = dataType match {
      case record: StructType if isRecord(topic, schema) => record.fields.toSeq
      case other                                         => Seq(StructField(ValueColumn, other))
    }
    fields.find(f => MetadataColumns.byName(f.name).isDefined).foreach { f =>
      throw notReadable(topic, schema, s"its field `${f.name}` has the name of a metadata column")
    }
    StructType(fields.map(f => f.copy(dataType = nullability(f.dataType), nullable = true)))
  }

  /** Whether values are made of several columns: fields, or a key and a value. */
  private[pulsarspark] def hasFields(topic: String, schema: TopicSchema): Boolean =
    schema.schemaType == KeyValueSchema.Type || isRecord(topic, schema)

  /** Whether values have fields, which are columns of their own. */
  private[schema] def isRecord(topic: String, schema: TopicSchema): Boolean = schema.schemaType match {
    case "AVRO" | "JSON" => avroSchema(topic, schema).getType == Schema.Type.RECORD
    case _               => isProtobuf(schema)
  }

  private def notReadable(topic: String, schema: TopicSchema, reason: String) =
    PulsarErrors("PULSAR_SCHEMA_NOT_READABLE", "topic" -> topic, "schemaType" -> schema.schemaType, "reason" -> reason)

  private def asNullable(dataType: DataType): DataType = dataType match {
    case StructType(fields) => StructType(fields.map(f => f.copy(dataType = asNullable(f.dataType), nullable = true)))
    case ArrayType(item, _) => ArrayType(asNullable(item), containsNull = true)
    case MapType(key, value, _) => MapType(asNullable(key), asNullable(value), valueContainsNull = true)
    case other                  => other
  }

  /** Checks a schema that the user gave for reading: any part of the columns, in any order, with the types they have.
    * Nullability is the connector's to say.
    */
  def checkUserSchema(user: StructType, actual: StructType): Unit =
    mismatch(user, actual).foreach { case (column, reason) =>
      throw PulsarErrors("PULSAR_USER_SCHEMA_MISMATCH", "column" -> column, "reason" -> reason)
    }

  /** The first part of `user` that `actual` does not have, and why. */
  private[schema] def mismatch(user: DataType, actual: DataType, path: String = ""): Option[(String, String)] =
    (user, actual) match {
      case (u: StructType, a: StructType) =>
        u.fields.iterator.flatMap { f =>
          val column = if (path.isEmpty) f.name else s"$path.${f.name}"
          Try(a(f.name)).toOption match {
            case None        => Some(column -> s"the topic has no such column; it has ${a.fieldNames.mkString(", ")}")
            case Some(field) => mismatch(f.dataType, field.dataType, column)
          }
        }.nextOption()
      case (ArrayType(u, _), ArrayType(a, _))     => mismatch(u, a, s"$path[]")
      case (MapType(uk, u, _), MapType(ak, a, _)) => mismatch(uk, ak, s"$path{}").orElse(mismatch(u, a, s"$path{}"))
      case _ if user == actual                    => None
      case _                                      => Some(path -> s"it is ${actual.sql}, not ${user.sql}")
    }
}
