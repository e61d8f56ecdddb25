package io.github.pulsarspark.schema.avro

import scala.annotation.nowarn
import scala.jdk.CollectionConverters._

import org.apache.avro.{LogicalTypes, NameValidator, Schema}
import org.apache.avro.Schema.Type
import org.apache.spark.sql.types._

import io.github.pulsarspark.schema.convert.{ColumnLimit, UnsupportedSchema}

/** Avro schemas, in which Pulsar keeps AVRO and JSON schemas alike, and the Spark types they are read as. */
private[schema] object AvroSchemas {

  /** Reads a schema as tolerantly as Pulsar's own clients, which accept any names and defaults. */
  def parse(definition: String): Schema =
    new Schema.Parser(NameValidator.NO_VALIDATION).setValidateDefaults(false).parse(definition)

  /** Makes schemas out of parts of others, with the same tolerance. Avro keeps its strictness in thread-locals, so they
    * are put back. Deprecated, but there is no other way to it outside of a parser.
    */
  @nowarn("cat=deprecation")
  def tolerant[T](body: => T): T = {
    val names    = Schema.getNameValidator
    val defaults = Schema.getValidateDefaults
    Schema.setNameValidator(NameValidator.NO_VALIDATION)
    Schema.setValidateDefaults(false)
    try body
    finally {
      Schema.setNameValidator(names)
      Schema.setValidateDefaults(defaults)
    }
  }

  /** Shape of a union in Spark. */
  sealed trait UnionShape { def nullable: Boolean }

  /** `{T}` and `{T, null}`; `branch` is the index of T. */
  final case class Single(branch: Int, nullable: Boolean) extends UnionShape

  /** `{int, long}` and `{float, double}`, with or without null. */
  final case class Widened(dataType: DataType, nullable: Boolean) extends UnionShape

  /** Other unions: a struct with one field for each branch but null; `members(i)` is the branch index of field
    * `member<i>`.
    */
  final case class Members(members: Seq[Int], nullable: Boolean) extends UnionShape

  def shape(union: Schema): UnionShape = {
    val types    = union.getTypes.asScala.toSeq
    val branches = types.indices.filter(i => types(i).getType != Type.NULL)
    val nullable = branches.size < types.size
    branches.map(types(_).getType).toSet match {
      case _ if branches.size == 1                                      => Single(branches.head, nullable)
      case _ if branches.isEmpty                                        => Single(0, nullable)
      case s if branches.size == 2 && s == Set(Type.INT, Type.LONG)     => Widened(LongType, nullable)
      case s if branches.size == 2 && s == Set(Type.FLOAT, Type.DOUBLE) => Widened(DoubleType, nullable)
      case _                                                            => Members(branches, nullable)
    }
  }

  def memberName(i: Int): String = s"member$i"

  def isNullable(schema: Schema): Boolean = schema.getType match {
    case Type.NULL  => true
    case Type.UNION => shape(schema).nullable
    case _          => false
  }

  /** The Spark type `schema` is read as; throws [[UnsupportedSchema]] when there is none. */
  def sparkType(schema: Schema): DataType = new SparkTypes().of(schema, "", Nil)

  /** The Spark types of one schema. */
  private final class SparkTypes {
    private val limit = new ColumnLimit

    def of(schema: Schema, path: String, open: List[String]): DataType =
      limit.within(path)(unlimited(schema, path, open))

    private def unlimited(schema: Schema, path: String, open: List[String]): DataType = schema.getType match {
      case Type.NULL    => NullType
      case Type.BOOLEAN => BooleanType
      case Type.INT     => if (schema.getLogicalType.isInstanceOf[LogicalTypes.Date]) DateType else IntegerType
      case Type.LONG    => AvroTimeUnit.of(schema).map(_.sparkType).getOrElse(LongType)
      case Type.FLOAT   => FloatType
      case Type.DOUBLE  => DoubleType
      case Type.STRING | Type.ENUM => StringType
      case Type.BYTES | Type.FIXED =>
        schema.getLogicalType match {
          case d: LogicalTypes.Decimal => // a value that does not fit is an error of its message
            DecimalType(math.min(d.getPrecision, DecimalType.MAX_PRECISION),
              math.min(d.getScale, DecimalType.MAX_SCALE))
          case _ => BinaryType
        }
      case Type.ARRAY =>
        val item = schema.getElementType
        ArrayType(of(item, s"$path[]", open), isNullable(item))
      case Type.MAP =>
        val value = schema.getValueType
        MapType(StringType, of(value, s"$path{}", open), isNullable(value))
      case Type.RECORD =>
        val name = schema.getFullName
        if (open.contains(name))
          throw new UnsupportedSchema(path, s"record $name contains itself, and a table cannot be nested without end")
        StructType(schema.getFields.asScala.toSeq.map { f =>
          StructField(f.name, of(f.schema, child(path, f.name), name :: open), isNullable(f.schema)).withDoc(f.doc)
        })
      case Type.UNION =>
        val types = schema.getTypes
        if (types.isEmpty) throw new UnsupportedSchema(path, "a union without types has no values")
        shape(schema) match {
          case Single(branch, _)    => of(types.get(branch), path, open)
          case Widened(dataType, _) => dataType
          case Members(members, _)  =>
            StructType(members.zipWithIndex.map { case (branch, i) =>
              StructField(memberName(i), of(types.get(branch), child(path, memberName(i)), open), nullable = true)
            })
        }
    }
  }

  private def child(path: String, name: String) = if (path.isEmpty) name else s"$path.$name"

  private implicit class Documented(field: StructField) {
    def withDoc(doc: String): StructField = if (doc == null || doc.isEmpty) field else field.withComment(doc)
  }
}
