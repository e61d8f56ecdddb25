package io.github.pulsarspark

import java.util.{Map => JMap}

import scala.util.{Random, Try}

import org.apache.avro.Schema
import org.apache.spark.sql.catalyst.expressions.{BoundReference, UnsafeProjection}
import org.apache.spark.sql.types._
import org.scalacheck.Gen
import org.scalacheck.Prop.forAll

import io.github.pulsarspark.schema.TopicSchema
import io.github.pulsarspark.schema.rows.{AvroGenerators, Messages, Plain, SchemaTranslation}

/** Tests that the columns of a read are nullable. Rows go through the code that Spark generates for these columns,
  * which checks no null flag of a column that is not nullable. Avro's own reader is the oracle.
  */
class NullableColumnsSuite extends PropertySuite(60) {

  private val seeds = Gen.choose(0L, Long.MaxValue)

  property("whatever a user's schema says of nulls, rows hold what the messages do") {
    forAll(AvroGenerators.dataOf(AvroGenerators.anyRecord), seeds) { case ((schema, data), seed) =>
      val random = new Random(seed)
      val table  = SchemaTranslation.toStruct(Messages.topic, TopicSchema("AVRO", schema.toString))
      val some   = random.shuffle(table.fields.toSeq).take(1 + random.nextInt(table.length))
      val user   = declared(StructType(some), random).asInstanceOf[StructType]
      // A tombstone after each value: what is shown in place of its nulls is the value before.
      val values: Seq[Option[Any]] = data.flatMap(value => Seq(Some(value), None))
      assertEquals(shown(schema, columnsOf(user), values), values.map(expected(schema, user, _)))
    }
  }

  test("columns that are believed show the value of the row before") {
    val optional = Schema.createUnion(Schema.create(Schema.Type.NULL), Schema.create(Schema.Type.DOUBLE))
    val field    = new Schema.Field("km", optional)
    val schema   = Schema.createRecord("R", null, null, false, java.util.List.of(field))
    val value    = new org.apache.avro.generic.GenericData.Record(schema)
    value.put("km", 12.5)
    val user     = StructType(Seq(StructField("km", DoubleType, nullable = false)))
    val believed = Try(shown(schema, user, Seq(Some(value), None)))
    assert(believed.toOption.exists(rows => rows(1) == rows(0)), believed)
    assertEquals(shown(schema, columnsOf(user), Seq(Some(value), None))(1), Map[String, Any]("km" -> null))
  }

  private def columnsOf(user: StructType) = new PulsarTable(user, JMap.of[String, String](), Map.empty).schema()

  /** A type with any claims about nulls, at every depth. */
  private def declared(dataType: DataType, random: Random): DataType = dataType match {
    case StructType(fields) =>
      StructType(fields.map(f => StructField(f.name, declared(f.dataType, random), random.nextBoolean())))
    case ArrayType(item, _)     => ArrayType(declared(item, random), random.nextBoolean())
    case MapType(key, value, _) => MapType(key, declared(value, random), random.nextBoolean())
    case other                  => other
  }

  private def shown(schema: Schema, columns: StructType, values: Seq[Option[Any]]): Seq[Map[String, Any]] = {
    val decoder    = Messages.decoder(TopicSchema("AVRO", schema.toString), columns)
    val projection = UnsafeProjection.create(columns.fields.toSeq.zipWithIndex.map { case (column, i) =>
      BoundReference(i, column.dataType, column.nullable)
    })
    values.map { value =>
      val message =
        value.fold(Messages.tombstone)(datum => Messages.of(AvroGenerators.encoded(schema, datum)))
      Plain.ofRow(projection(decoder.decode(message)), columns)
    }
  }

  private def expected(schema: Schema, user: StructType, value: Option[Any]): Map[String, Any] =
    value.map(Plain.ofAvro(_, schema)) match {
      case Some(fields: Map[_, _]) => user.fieldNames.map(n => n -> fields.asInstanceOf[Map[String, Any]](n)).toMap
      case _                       => user.fieldNames.map(_ -> null).toMap
    }
}
