package io.github.pulsarspark.schema.avro

import scala.jdk.CollectionConverters._
import scala.util.{Failure, Success, Try}

import com.fasterxml.jackson.core.io.SerializedString
import org.apache.avro.{LogicalTypes, Schema}
import org.apache.avro.Schema.Type
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import io.github.pulsarspark.schema.avro.AvroSchemas._
import io.github.pulsarspark.schema.convert.{ColumnMismatch, NumberConversion}
import io.github.pulsarspark.schema.{ValueWriter, WritePlan}

/** Compiles the tree of writers of an AVRO or JSON schema, or reports the column that does not fit.
  *
  * A column fits when every value of its type has an exact place in the schema. Nulls are the exception: whether a
  * column holds any shows only in its rows.
  *
  * @param plan
  *   names the destination in error texts, and allows times to be cut
  */
private[schema] final class ValueWriterCompiler(plan: WritePlan) {
  private val isJson = plan.schema.schemaType == "JSON"

  /** @param ordinals
    *   where in the rows each field of `columns` is
    */
  def record(schema: Schema, columns: StructType, ordinals: Array[Int]): ValueWriter.Record = {
    plan.checkNoFieldIs(schema.getField(_) != null)
    record(schema, columns, ordinals, "")
  }

  /** Compiles the writer of a value that is not a record. */
  def value(schema: Schema, dataType: DataType, column: String): ValueWriter = nullable(schema, dataType, column)

  private def record(schema: Schema, columns: StructType, ordinals: Array[Int], path: String): ValueWriter.Record = {
    val fields = schema.getFields.asScala.toArray
    columns.fields.find(c => schema.getField(c.name) == null).foreach { c =>
      throw new ColumnMismatch(child(path, c.name),
        s"the schema has no such field; it has ${fields.map(_.name).mkString(", ")}")
    }
    val (writers, places) = fields.map { f =>
      val i = columns.fieldNames.indexOf(f.name)
      if (i >= 0 && path.isEmpty && columns(i).dataType == NullType && !isNullable(f.schema))
        throw plan.refusedNull(f.name) // before a task finds it in its first row
      if (i >= 0) (nullable(f.schema, columns(i).dataType, child(path, f.name)), ordinals(i))
      else (absent(f, child(path, f.name)), 0)
    }.unzip
    new ValueWriter.Record(fields.map(f => new SerializedString(f.name)), writers, places)
  }

  private def absent(field: Schema.Field, path: String): ValueWriter = {
    val dataType = sparkType(field.schema)
    if (!field.hasDefaultValue && !isNullable(field.schema))
      throw new ColumnMismatch(path, "there is no such column, and the field has no default and cannot be null")
    val value = if (field.hasDefaultValue) AvroReaderCompiler.default(field, dataType) else null
    new ValueWriter.Constant(new GenericInternalRow(Array[Any](value)), nullable(field.schema, dataType, path))
  }

  private def nullable(schema: Schema, dataType: DataType, path: String): ValueWriter = schema.getType match {
    case Type.UNION                => union(schema, dataType, path)
    case Type.NULL                 => ValueWriter.of((_, _, out) => out.empty())
    case _ if dataType == NullType => required(ValueWriter.of((_, _, out) => out.empty()), path)
    case _                         => required(notNull(schema, dataType, path), path)
  }

  private def required(writer: ValueWriter, path: String): ValueWriter =
    new ValueWriter.Required(writer, () => plan.refusedNull(path))

  private def union(schema: Schema, dataType: DataType, path: String): ValueWriter = {
    val types      = schema.getTypes.asScala.toSeq
    val nullBranch = types.indexWhere(_.getType == Type.NULL)
    val value      = (shape(schema), dataType) match {
      case (_, NullType) if nullBranch >= 0 =>
        new ValueWriter.Branch(nullBranch, ValueWriter.of((_, _, out) => out.empty()))
      case (_, NullType) => ValueWriter.of((_, _, out) => out.empty()) // never called
      case (Members(members, _), struct: StructType) if struct.fieldNames.toSeq == members.indices.map(memberName) =>
        val writers = members.zip(struct.fields).map { case (branch, f) =>
          new ValueWriter.Branch(branch, notNull(types(branch), f.dataType, child(path, f.name)))
        }
        def refused(count: Int) = plan.refused(path, s"$count members", "exactly one member of a union is not null")
        new ValueWriter.Members(writers.toArray[ValueWriter], refused)
      case _ =>
        val (branch, writer) = fitting(types, dataType, path)
        new ValueWriter.Branch(branch, writer)
    }
    if (nullBranch < 0) required(value, path)
    else new ValueWriter.Nullable(nullBranch, value)
  }

  /** The branch of exactly this type, else the first that takes it; of numbers, the one that takes most of them. */
  private def fitting(types: Seq[Schema], dataType: DataType, path: String): (Int, ValueWriter) = {
    val branches = types.indices.filter(types(_).getType != Type.NULL).sortBy(i =>
      NumberConversion.preference(dataType, sparkType(types(i)))
    )
    val attempts = branches.map(i => Try(i -> notNull(types(i), dataType, path)))
    attempts.collectFirst { case Success(found) => found }.getOrElse {
      attempts match {
        case Seq(Failure(only)) => throw only
        case _                  => throw new ColumnMismatch(path,
            s"the field is a union of ${types.map(text).mkString(", ")}, the column is ${dataType.sql}")
      }
    }
  }

  private def notNull(schema: Schema, dataType: DataType, path: String): ValueWriter =
    (schema.getType, dataType) match {
      case (Type.BOOLEAN, BooleanType)              => ValueWriter.of((from, i, out) => out.boolean(from.getBoolean(i)))
      case (Type.INT, DateType) if isDate(schema)   => ValueWriter.of((from, i, out) => out.int(from.getInt(i)))
      case (Type.INT, ByteType) if !isDate(schema)  => ValueWriter.of((from, i, out) => out.int(from.getByte(i).toInt))
      case (Type.INT, ShortType) if !isDate(schema) => ValueWriter.of((from, i, out) => out.int(from.getShort(i).toInt))
      case (Type.INT, IntegerType) if !isDate(schema) => ValueWriter.of((from, i, out) => out.int(from.getInt(i)))
      case (Type.LONG, TimestampType | TimestampNTZType) if sparkType(schema) == dataType =>
        if (AvroTimeUnit.of(schema).exists(_.isMillis)) {
          val unit = schema.getLogicalType.getName
          ValueWriter.of((from, i, out) => out.long(plan.millis(from.getLong(i), path, unit)))
        } else ValueWriter.of((from, i, out) => out.long(from.getLong(i)))
      case (Type.LONG, ByteType) if isNumber(schema) =>
        ValueWriter.of((from, i, out) => out.long(from.getByte(i).toLong))
      case (Type.LONG, ShortType) if isNumber(schema) =>
        ValueWriter.of((from, i, out) => out.long(from.getShort(i).toLong))
      case (Type.LONG, IntegerType) if isNumber(schema) =>
        ValueWriter.of((from, i, out) => out.long(from.getInt(i).toLong))
      case (Type.LONG, LongType) if isNumber(schema) => ValueWriter.of((from, i, out) => out.long(from.getLong(i)))
      case (Type.FLOAT, FloatType)                   => ValueWriter.of((from, i, out) => out.float(from.getFloat(i)))
      case (Type.DOUBLE, FloatType)     => ValueWriter.of((from, i, out) => out.double(from.getFloat(i).toDouble))
      case (Type.DOUBLE, DoubleType)    => ValueWriter.of((from, i, out) => out.double(from.getDouble(i)))
      case (Type.DOUBLE, ByteType)      => ValueWriter.of((from, i, out) => out.double(from.getByte(i).toDouble))
      case (Type.DOUBLE, ShortType)     => ValueWriter.of((from, i, out) => out.double(from.getShort(i).toDouble))
      case (Type.DOUBLE, IntegerType)   => ValueWriter.of((from, i, out) => out.double(from.getInt(i).toDouble))
      case (Type.STRING, _: StringType) =>
        ValueWriter.of((from, i, out) => out.text(checked(from.getUTF8String(i), path)))
      case (Type.ENUM, _: StringType) =>
        val symbols = schema.getEnumSymbols.asScala.toSeq
        new ValueWriter.Enum(symbols,
          name => plan.refused(path, name.toString, s"the symbols of the enum are ${symbols.mkString(", ")}"))
      case (Type.BYTES, BinaryType) if !isDecimal(schema) =>
        ValueWriter.of((from, i, out) => out.bytes(from.getBinary(i)))
      case (Type.FIXED, BinaryType) if !isDecimal(schema) => fixed(schema.getFixedSize, path)
      case (Type.ARRAY, ArrayType(item, _))               =>
        new ValueWriter.Sequence(nullable(schema.getElementType, item, s"$path[]"))
      case (Type.MAP, MapType(_: StringType, value, _)) =>
        new ValueWriter.Mapping(checked(_, path), nullable(schema.getValueType, value, s"$path{}"))
      case (Type.RECORD, struct: StructType) => record(schema, struct, struct.indices.toArray, path).nested(struct.size)
      case _ => number(schema, dataType, path).getOrElse(throw misfit(schema, dataType, path))
    }

  /** Writes a number whose type holds numbers that the field does not. */
  private def number(schema: Schema, dataType: DataType, path: String): Option[ValueWriter] = {
    val numbers = plan.numbers(path, text(schema))
    schema.getType match {
      case Type.INT if !isDate(schema) =>
        numbers.whole(dataType, 32).map(n => ValueWriter.of((from, i, out) => out.int(n(from, i).toInt)))
      case Type.LONG if isNumber(schema) =>
        numbers.whole(dataType, 64).map(n => ValueWriter.of((from, i, out) => out.long(n(from, i))))
      case Type.FLOAT  => numbers.float(dataType).map(n => ValueWriter.of((from, i, out) => out.float(n(from, i))))
      case Type.DOUBLE => numbers.double(dataType).map(n => ValueWriter.of((from, i, out) => out.double(n(from, i))))
      case Type.BYTES | Type.FIXED if isDecimal(schema) =>
        val target = schema.getLogicalType.asInstanceOf[LogicalTypes.Decimal]
        val size   = if (schema.getType == Type.FIXED) schema.getFixedSize else -1
        numbers.decimal(dataType, target.getPrecision, target.getScale)
          .map(n => ValueWriter.of((from, i, out) => out.decimal(n(from, i), size)))
      case _ => None
    }
  }

  private def fixed(size: Int, path: String): ValueWriter = ValueWriter.of { (from, i, out) =>
    val bytes = from.getBinary(i)
    if (bytes.length != size) throw plan.refused(path, s"${bytes.length} bytes", s"the fixed of the schema has $size")
    out.fixed(bytes)
  }

  /** Avro takes the bytes of a text as they are. */
  private def checked(text: UTF8String, path: String) = if (isJson) plan.text(text, path) else text

  private def isDate(schema: Schema)    = schema.getLogicalType.isInstanceOf[LogicalTypes.Date]
  private def isDecimal(schema: Schema) = schema.getLogicalType.isInstanceOf[LogicalTypes.Decimal]
  private def isNumber(schema: Schema)  = sparkType(schema) == LongType

  private def misfit(schema: Schema, dataType: DataType, path: String) =
    new ColumnMismatch(path, s"the field is ${text(schema)}, the column is ${dataType.sql}")

  private def text(schema: Schema): String =
    schema.getType.getName + Option(schema.getLogicalType).fold("") {
      case d: LogicalTypes.Decimal => s" (decimal of ${d.getPrecision} digits, ${d.getScale} after the point)"
      case t                       => s" (${t.getName})"
    }

  private def child(path: String, name: String) = if (path.isEmpty) name else s"$path.$name"
}
