package io.github.pulsarspark.schema.rows

import scala.jdk.CollectionConverters._

import org.apache.avro.Schema
import org.apache.avro.Schema.Type
import org.scalacheck.Gen

/** Pairs of schemas of which one could have become the other, and some that do not go together. */
object EvolvedSchemas {

  /** The schema of a reader, and one that its values may have been written with. */
  val pair: Gen[(Schema, Schema)] = for {
    schema <- AvroGenerators.anyRecord
    reader <- EvolvedSchemas.reader(schema)
    writer <- EvolvedSchemas.writer(reader)
  } yield (reader, writer)

  /** The schema with an alias for each field, and a default for some. */
  def reader(schema: Schema): Gen[Schema] = schema.getType match {
    case Type.RECORD =>
      Gen.sequence[Seq[Schema.Field], Schema.Field](schema.getFields.asScala.map(f =>
        for {
          inner <- reader(f.schema)
          value <- Gen.frequency(3 -> Gen.const(default(inner)), 1 -> Gen.const(None))
        } yield {
          val field = value.fold(new Schema.Field(f.name, inner))(d => new Schema.Field(f.name, inner, null, d))
          field.addAlias(s"old_${f.name}")
          field
        }
      )).map(fields => Schema.createRecord(schema.getName, null, null, false, fields.asJava))
    case Type.ARRAY => reader(schema.getElementType).map(Schema.createArray)
    case Type.MAP   => reader(schema.getValueType).map(Schema.createMap)
    case Type.UNION => Gen.sequence[Seq[Schema], Schema](schema.getTypes.asScala.map(reader)).map(types =>
        Schema.createUnion(types.asJava)
      )
    case Type.ENUM => Gen.oneOf(None, Some("S0")).map(d =>
        Schema.createEnum(schema.getName, null, null, schema.getEnumSymbols, d.orNull)
      )
    case _ => Gen.const(schema)
  }

  private def default(schema: Schema): Option[Any] = schema.getType match {
    case Type.UNION                                  => default(schema.getTypes.get(0))
    case Type.NULL                                   => Some(Schema.Field.NULL_DEFAULT_VALUE)
    case Type.INT                                    => Some(7)
    case Type.LONG                                   => Some(8L)
    case Type.DOUBLE                                 => Some(0.5)
    case Type.STRING                                 => Some("dé")
    case Type.BYTES if schema.getLogicalType == null => Some("\u0001\u00ff")
    case Type.ENUM                                   => Some("S0")
    case Type.ARRAY                                  => Some(Seq.empty[Any].asJava)
    case Type.MAP                                    => Some(Map.empty[String, Any].asJava)
    case _                                           => None
  }

  /** Schemas with which values for this reader may have been written. */
  def writer(schema: Schema): Gen[Schema] = schema.getType match {
    case Type.LONG if schema.getLogicalType == null   => primitive(Type.LONG, Type.INT)
    case Type.FLOAT                                   => primitive(Type.FLOAT, Type.INT, Type.LONG)
    case Type.DOUBLE                                  => primitive(Type.DOUBLE, Type.INT, Type.LONG, Type.FLOAT)
    case Type.STRING if schema.getLogicalType == null => primitive(Type.STRING, Type.STRING, Type.BYTES)
    case Type.BYTES if schema.getLogicalType == null  => primitive(Type.BYTES, Type.BYTES, Type.STRING, Type.INT)
    case Type.ENUM                                    =>
      Gen.oneOf(schema.getEnumSymbols.asScala.toSeq, schema.getEnumSymbols.asScala.toSeq :+ "NEW",
        Seq("NEW", "S0")).map { symbols =>
        Schema.createEnum(schema.getName, null, null, symbols.asJava)
      }
    case Type.ARRAY  => writer(schema.getElementType).map(Schema.createArray)
    case Type.MAP    => writer(schema.getValueType).map(Schema.createMap)
    case Type.UNION  => union(schema)
    case Type.RECORD =>
      for {
        kept <-
          Gen.sequence[Seq[Option[(String, Schema)]], Option[(String, Schema)]](schema.getFields.asScala.map(field))
        extra  <- Gen.oneOf(None, Some("later" -> Schema.createMap(Schema.create(Type.STRING))))
        fields <- Gen.long.map(seed => new scala.util.Random(seed).shuffle(kept.flatten ++ extra))
      } yield Schema.createRecord(schema.getName, null, null, false,
        fields.map { case (n, s) => new Schema.Field(n, s) }.asJava)
    case _ => Gen.const(schema)
  }

  private def primitive(types: Type*): Gen[Schema] =
    Gen.frequency(3 -> Gen.const(types.head), 1 -> Gen.oneOf(types)).map(Schema.create)

  private def field(f: Schema.Field): Gen[Option[(String, Schema)]] = for {
    inner <- writer(f.schema)
    maybe <- if (inner.getType == Type.UNION) Gen.const(inner)
    else Gen.frequency(6 -> inner, 1 -> Schema.createUnion(inner, Schema.create(Type.NULL)))
    name <- Gen.frequency(3 -> f.name, 1 -> s"old_${f.name}")
    drop <- Gen.frequency(8 -> false, 1 -> true)
  } yield Option.unless(drop)(name -> maybe)

  /** Null may come or go; a union of many types keeps them, because Avro may pick another branch for a smaller type. */
  private def union(schema: Schema): Gen[Schema] = {
    val types = schema.getTypes.asScala.toSeq
    types.filter(_.getType != Type.NULL) match {
      case Seq(only) =>
        writer(only).flatMap { w =>
          Gen.oneOf(w, Schema.createUnion(w, Schema.create(Type.NULL)), Schema.createUnion(Schema.create(Type.NULL), w))
        }
      case _ => Gen.oneOf(schema, Schema.createUnion(types.reverse.asJava))
    }
  }
}
