package io.github.pulsarspark.schema.primitive

import org.apache.spark.sql.types._

import io.github.pulsarspark.schema.{SchemaFormat, TopicSchema, ValueColumns, ValueDecoder, ValueEncoder, WritePlan}

/** Values that are not made of fields, among them bytes without a schema. */
private[schema] object PrimitiveFormat extends SchemaFormat {

  /** DATE, TIME and TIMESTAMP are classes around milliseconds since 1970, so a DATE is a moment and not a day. Times of
    * day are shown as the number that is stored, like those of Avro: not every Spark has a type for them, and none that
    * holds nanoseconds.
    */
  private val dataTypes: Map[String, DataType] = Map(
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

  override val schemaTypes: Set[String] = dataTypes.keySet

  /** The primitive schema type that a column of this type is written with, if there is one. */
  def schemaType(dataType: DataType): Option[String] = dataType match {
    case BinaryType       => Some("BYTES")
    case NullType         => Some("BYTES") // tombstones alone
    case _: StringType    => Some("STRING")
    case BooleanType      => Some("BOOLEAN")
    case ByteType         => Some("INT8")
    case ShortType        => Some("INT16")
    case IntegerType      => Some("INT32")
    case LongType         => Some("INT64")
    case FloatType        => Some("FLOAT")
    case DoubleType       => Some("DOUBLE")
    case DateType         => Some("LOCAL_DATE")
    case TimestampType    => Some("INSTANT")
    case TimestampNTZType => Some("LOCAL_DATE_TIME")
    case _                => None
  }

  override def columns(topic: String, schema: TopicSchema): StructType =
    ValueColumns.single(dataTypes(schema.schemaType))

  override def isRecord(topic: String, schema: TopicSchema): Boolean = false

  override def hasEmptyValues(topic: String, writer: TopicSchema): Boolean =
    Set("NONE", "BYTES", "STRING")(writer.schemaType)

  override def decoder(
      topic: String,
      writer: TopicSchema,
      reader: TopicSchema,
      required: StructType,
      ordinals: Array[Int]
  ): ValueDecoder = PrimitiveDecoder(reader.schemaType, ordinals.headOption.getOrElse(0))

  /** Texts do; all others are copied or numbers. */
  override def refersToBytes(reader: TopicSchema): Boolean = reader.schemaType == "STRING"

  override def encoder(plan: WritePlan): ValueEncoder = PrimitiveEncoder(plan.schema.schemaType, plan.singleValue, plan)

  override def fromColumns(plan: WritePlan, schemaType: String): Either[String, TopicSchema] =
    Right(TopicSchema(schemaType))

  /** Returns the newest schema: there is one column, which stays the same. */
  override def merge(topic: String, known: TopicSchema, newest: TopicSchema): Either[String, TopicSchema] =
    Right(newest)
}
