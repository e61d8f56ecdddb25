package io.github.pulsarspark.schema.columns

import org.apache.avro.generic.{GenericData, GenericRecordBuilder}
import org.apache.spark.sql.types._

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.schema.TopicSchema
import io.github.pulsarspark.schema.avro.AvroSchemas
import io.github.pulsarspark.schema.columns.ColumnMerge.Difference
import io.github.pulsarspark.schema.keyvalue.KeyValueSchema
import io.github.pulsarspark.schema.rows.{AvroGenerators, Messages, Plain}

class ColumnMergeSuite extends UnitSuite {

  private val inner = new StructType().add("x", LongType, nullable = false)

  test("a column of one schema is nullable, a column of both keeps its type") {
    val one = new StructType().add("a", IntegerType, nullable = false).add("s", inner).add("l",
      ArrayType(inner, containsNull = false))
    val other = new StructType().add("b", StringType, nullable = false).add("s",
      new StructType().add("y", DateType)).add("a", IntegerType)
    val both = new StructType().add("x", LongType).add("y", DateType)
    assertEquals(
      ColumnMerge(one, other),
      Right(
        new StructType().add("a", IntegerType).add("s", both).add("l", ArrayType(inner, containsNull = false)).add("b",
          StringType)
      )
    )
    assertEquals(ColumnMerge(one, one), Right(one))
  }

  test("the first field with two types is reported with its path") {
    def field(t: DataType) =
      new StructType().add("ok", LongType).add("m", MapType(StringType, ArrayType(new StructType().add("d", t))))
    assertEquals(ColumnMerge(field(LongType), field(IntegerType)), Left(Difference("m{}[].d", LongType, IntegerType)))
  }

  private def record(fields: String) = s"""{"type":"record","name":"R","fields":[$fields]}"""
  private val a                      = """{"name":"a","type":"int"}"""
  private val s = """{"name":"s","type":{"type":"record","name":"S","fields":[{"name":"x","type":"long"}]}}"""

  test("a column that other topics alone have, null") {
    val wanted = new StructType()
      .add("new", StringType)
      .add("s", new StructType().add("y", ArrayType(LongType)).add("x", LongType))
      .add("a", IntegerType)
    val expected = Map[String, Any]("new" -> null, "s" -> Map[String, Any]("y" -> null, "x" -> 8L), "a" -> 7)
    val schema   = AvroSchemas.parse(record(s"$a,$s"))
    val value    = new GenericRecordBuilder(schema)
      .set("a", 7)
      .set("s", { val r = new GenericData.Record(schema.getField("s").schema); r.put("x", 8L); r })
      .build
    for {
      (kind, bytes) <-
        Seq("AVRO" -> AvroGenerators.encoded(schema, value), "JSON" -> """{"a":7,"s":{"x":8}}""".getBytes)
      pair <- Seq(false, true)
    } {
      val own     = TopicSchema(kind, schema.toString)
      val decoder = Messages.decoder(own, wanted)
      (0 to 1).foreach(_ => assertEquals[Any, Any](Plain.ofRow(decoder.decode(Messages.of(bytes)), wanted), expected))
      if (pair) {
        val both    = KeyValueSchema(TopicSchema("STRING"), own, separated = true).toTopicSchema()
        val columns = new StructType().add("value", wanted)
        assertEquals[Any, Any](
          Plain.ofRow(Messages.decoder(both, columns).decode(Messages.of(bytes)), columns),
          Map[String, Any]("value" -> expected)
        )
      }
    }
  }
}
