package io.github.pulsarspark.schema.avro

import scala.jdk.CollectionConverters._

import org.apache.avro.{LogicalTypes, Schema}
import org.apache.avro.Schema.Type
import org.apache.spark.sql.types._

import io.github.pulsarspark.schema.convert.ColumnMismatch

/** The Avro schema that columns are written with when the topic does not have one.
  *
  * A nullable column is a union with null that has the default null, so that it can be omitted or removed later. Times
  * keep Spark's microseconds.
  */
private[schema] object AvroSchemaOfColumns {
  private val RootName  = "Row"
  private val validName = "[A-Za-z_][A-Za-z0-9_]*".r

  def apply(columns: StructType): Schema = record(RootName, None, columns, "")

  /** Nested records are named by the path of their field, which no other record can have. */
  private def record(name: String, namespace: Option[String], columns: StructType, path: String): Schema = {
    val inner  = namespace.fold(name)(n => s"$n.$name")
    val fields = columns.fields.map { c =>
      val column = if (path.isEmpty) c.name else s"$path.${c.name}"
      if (!validName.matches(c.name))
        throw new ColumnMismatch(column,
          "names of Avro fields are made of the letters A to Z, digits and _, and do not begin with a digit")
      val schema = nullable(c.dataType, c.nullable, c.name, inner, column)
      val doc    = c.getComment().orNull
      if (schema.getType == Type.UNION) new Schema.Field(c.name, schema, doc, Schema.Field.NULL_DEFAULT_VALUE)
      else new Schema.Field(c.name, schema, doc)
    }
    Schema.createRecord(name, null, namespace.orNull, false, fields.toSeq.asJava)
  }

  private def nullable(
      dataType: DataType,
      isNullable: Boolean,
      name: String,
      namespace: String,
      path: String
  ): Schema = {
    val schema = of(dataType, name, namespace, path)
    if (isNullable && schema.getType != Type.NULL) Schema.createUnion(Schema.create(Type.NULL), schema) else schema
  }

  private def of(dataType: DataType, name: String, namespace: String, path: String): Schema = dataType match {
    case NullType                           => Schema.create(Type.NULL)
    case BooleanType                        => Schema.create(Type.BOOLEAN)
    case ByteType | ShortType | IntegerType => Schema.create(Type.INT)
    case LongType                           => Schema.create(Type.LONG)
    case FloatType                          => Schema.create(Type.FLOAT)
    case DoubleType                         => Schema.create(Type.DOUBLE)
    case _: StringType                      => Schema.create(Type.STRING)
    case BinaryType                         => Schema.create(Type.BYTES)
    case DateType                           => LogicalTypes.date.addToSchema(Schema.create(Type.INT))
    case TimestampType                      => LogicalTypes.timestampMicros.addToSchema(Schema.create(Type.LONG))
    case TimestampNTZType                   => LogicalTypes.localTimestampMicros.addToSchema(Schema.create(Type.LONG))
    case d: DecimalType           => LogicalTypes.decimal(d.precision, d.scale).addToSchema(Schema.create(Type.BYTES))
    case ArrayType(item, hasNull) => Schema.createArray(nullable(item, hasNull, name, namespace, s"$path[]"))
    case MapType(_: StringType, value, hasNull) =>
      Schema.createMap(nullable(value, hasNull, name, namespace, s"$path{}"))
    case struct: StructType => record(name, Some(namespace), struct, path)
    case other              => throw new ColumnMismatch(path, s"Avro has no counterpart of ${other.sql}")
  }
}
