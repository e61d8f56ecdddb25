package io.github.pulsarspark.schema.avro

import scala.collection.mutable
import scala.jdk.CollectionConverters._

import org.apache.avro.{JsonProperties, Schema}
import org.apache.avro.Schema.{Field, Type}
import org.apache.spark.sql.types._

import io.github.pulsarspark.schema.ValueColumns
import io.github.pulsarspark.schema.avro.AvroSchemas._
import io.github.pulsarspark.schema.convert.UnsupportedSchema

/** An Avro schema that values of two others are read by: it has the fields of both, those of `known` first. Where both
  * have one, it has the wider type.
  *
  * Types that have names stay one type each, since resolving goes by names, and a schema can define a name once only.
  */
private[schema] final class AvroSchemaMerge private (known: Schema, newest: Schema) {
  import AvroSchemaMerge._

  private val ofKnown  = named(known)
  private val ofNewest = named(newest)
  private val made     = mutable.Map.empty[String, Schema]
  private val making   = mutable.Set.empty[String]

  private def merge(a: Schema, b: Schema, path: String): Schema = (a.getType, b.getType) match {
    case (Type.UNION, _) | (_, Type.UNION) => union(a, b, path)
    case (Type.RECORD, Type.RECORD)        => once(b)(record(a, b, path))
    case (Type.ENUM, Type.ENUM)            => once(b)(enumeration(a, b))
    case (Type.ARRAY, Type.ARRAY)          => Schema.createArray(merge(a.getElementType, b.getElementType, s"$path[]"))
    case (Type.MAP, Type.MAP)              => Schema.createMap(merge(a.getValueType, b.getValueType, s"$path{}"))
    case _                                 => wider(a, b, path)
  }

  /** Makes a type with a name. Two schemas may have records that contain each other only together. */
  private def once(schema: Schema)(make: => Schema): Schema = {
    val name = schema.getFullName
    made.getOrElse(
      name, {
        if (!making.add(name))
          throw new UnsupportedSchema("", s"with the fields before it, record $name contains itself")
        val result = make
        made.put(name, result)
        result
      }
    )
  }

  private def wider(a: Schema, b: Schema, path: String): Schema = (plainType(a), plainType(b)) match {
    case (was, is) if was == is                                     => b
    case (was, is) if numbers.contains(was) && numbers.contains(is) =>
      if (numbers.indexOf(was) > numbers.indexOf(is)) a else b
    case (was: StructType, is: StructType) if b.getType == Type.UNION && is.startsWith(was) => b // one more member
    case (was, is) => throw new Difference(path, was, is)
  }

  /** Null comes first, which a field may change. */
  private def union(a: Schema, b: Schema, path: String): Schema = {
    val values = (branches(a), branches(b)) match {
      case (Seq(one), Seq(other)) => Seq(merge(one, other, path))
      case (Seq(), others)        => others.map(settled)
      case (ones, Seq())          => ones.map(settled)
      case _                      => branches(wider(a, b, path)).map(settled)
    }
    unionOf(values, isNullable(a) || isNullable(b))
  }

  private def record(a: Schema, b: Schema, path: String): Schema = {
    val fields = b.getFields.asScala.toSeq
    val pairs  = a.getFields.asScala.toSeq.map { f =>
      val renamed = fields.find(g => g.aliases.contains(f.name) && a.getField(g.name) == null)
      (f, Option(b.getField(f.name)).orElse(renamed))
    }
    val kept = pairs.map {
      case (f, Some(g)) => withType(g, merge(f.schema, g.schema, if (path.isEmpty) g.name else s"$path.${g.name}"))
      case (f, None)    => gone(f)
    }
    val paired = pairs.flatMap(_._2).map(_.name).toSet
    copy(b, kept ++ fields.filterNot(g => paired(g.name)).map(g => withType(g, settled(g.schema))))
  }

  /** Completes a schema that only one side has, with the merged types of both sides. */
  private def settled(schema: Schema): Schema = schema.getType match {
    case Type.RECORD | Type.ENUM =>
      val name = schema.getFullName
      (ofKnown.get(name), ofNewest.get(name)) match {
        case (Some(a), Some(b))               => merge(a, b, name)
        case _ if schema.getType == Type.ENUM => schema
        case _ => once(schema)(copy(schema, schema.getFields.asScala.toSeq.map(f => withType(f, settled(f.schema)))))
      }
    case Type.FIXED => ofNewest.getOrElse(schema.getFullName, schema)
    case Type.ARRAY => Schema.createArray(settled(schema.getElementType))
    case Type.MAP   => Schema.createMap(settled(schema.getValueType))
    case Type.UNION => unionOf(branches(schema).map(settled), isNullable(schema))
    case _          => schema
  }

  /** A field that the newest schema does not have: its default, or null. */
  private def gone(field: Field): Field = {
    val schema = settled(field.schema)
    if (field.hasDefaultValue) withType(field, schema)
    else new Field(field.name, orNull(branches(schema)), field.doc, Field.NULL_DEFAULT_VALUE)
  }

  /** A default is one of the first type of a union. */
  private def withType(field: Field, schema: Schema): Field = {
    val isFirst = field.hasDefaultValue && field.defaultVal != JsonProperties.NULL_VALUE
    new Field(field, if (isFirst && isNullable(schema)) nullLast(branches(schema)) else schema)
  }
}

private[schema] object AvroSchemaMerge {

  /** A value that cannot be read as one type in both. */
  final class Difference(val path: String, val was: DataType, val is: DataType)
      extends RuntimeException(s"$path: ${was.sql}, ${is.sql}")

  /** Fails with [[Difference]], or with [[UnsupportedSchema]] where a record would contain itself. */
  def apply(known: Schema, newest: Schema): Schema = tolerant {
    val path = if (known.getType == Type.RECORD && newest.getType == Type.RECORD) "" else ValueColumns.Single
    new AvroSchemaMerge(known, newest).merge(known, newest, path)
  }

  /** Numeric types by width: each can be read as any that comes after it. */
  private val numbers = Seq[DataType](IntegerType, LongType, FloatType, DoubleType)

  /** The Spark type of values without docs, which say nothing of values. */
  private def plainType(schema: Schema): DataType = withoutDocs(sparkType(schema))

  private def withoutDocs(dataType: DataType): DataType = dataType match {
    case StructType(fields) => StructType(fields.map(f => StructField(f.name, withoutDocs(f.dataType), f.nullable)))
    case ArrayType(item, hasNull)     => ArrayType(withoutDocs(item), hasNull)
    case MapType(key, value, hasNull) => MapType(key, withoutDocs(value), hasNull)
    case other                        => other
  }

  private val Null = Schema.create(Type.NULL)

  private def unionOf(branches: Seq[Schema], nullable: Boolean): Schema =
    if (nullable) orNull(branches) else Schema.createUnion(branches.asJava)

  private def orNull(branches: Seq[Schema]): Schema   = Schema.createUnion((Null +: branches).asJava)
  private def nullLast(branches: Seq[Schema]): Schema = Schema.createUnion((branches :+ Null).asJava)

  /** Types of a value but null. */
  private def branches(schema: Schema): Seq[Schema] =
    (if (schema.getType == Type.UNION) schema.getTypes.asScala.toSeq else Seq(schema)).filter(_.getType != Type.NULL)

  private def copy(record: Schema, fields: Seq[Field]): Schema = {
    val made = Schema.createRecord(record.getName, record.getDoc, record.getNamespace, record.isError, fields.asJava)
    record.getAliases.asScala.foreach(made.addAlias(_))
    made
  }

  private def enumeration(a: Schema, b: Schema): Schema = {
    val symbols = b.getEnumSymbols.asScala ++ a.getEnumSymbols.asScala.filterNot(b.hasEnumSymbol)
    val made    = Schema.createEnum(b.getName, b.getDoc, b.getNamespace, symbols.asJava, b.getEnumDefault)
    b.getAliases.asScala.foreach(made.addAlias(_))
    made
  }

  /** Types by their names. */
  private def named(schema: Schema): Map[String, Schema] = schema.getType match {
    case Type.RECORD =>
      schema.getFields.asScala.map(f => named(f.schema)).foldLeft(Map(schema.getFullName -> schema))(_ ++ _)
    case Type.ENUM | Type.FIXED => Map(schema.getFullName -> schema)
    case Type.ARRAY             => named(schema.getElementType)
    case Type.MAP               => named(schema.getValueType)
    case Type.UNION             => schema.getTypes.asScala.map(named).foldLeft(Map.empty[String, Schema])(_ ++ _)
    case _                      => Map.empty
  }
}
