package io.github.pulsarspark.functions

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, ObjectInputStream, ObjectOutputStream}
import java.time.{Duration, LocalDate}

import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.{CatalystTypeConverters, InternalRow}
import org.apache.spark.sql.catalyst.expressions.GenericRowWithSchema
import org.apache.spark.sql.types._
import org.scalacheck.Prop.forAll

import io.github.pulsarspark.PropertySuite
import io.github.pulsarspark.errors.PulsarError
import io.github.pulsarspark.options.ReadOptions
import io.github.pulsarspark.options.registry.{CheckedOptions, Scope}
import io.github.pulsarspark.schema.TopicSchema
import io.github.pulsarspark.schema.keyvalue.KeyValueSchema
import io.github.pulsarspark.schema.rows.{Plain, RowGenerators, WritePlanner}

class FunctionsSuite extends PropertySuite {

  private val topic  = "persistent://public/default/events"
  private val token  = "do-not-show-me"
  private val record =
    TopicSchema("AVRO", """{"type": "record", "name": "R", "fields": [{"name": "id", "type": "int"}]}""")
  private val id = StructType(Seq(StructField("id", IntegerType)))

  private def from(schema: TopicSchema, more: (String, String)*) = {
    val options = Map("service.url" -> "pulsar://localhost:1", "topic" -> topic, "auth.token" -> token) ++ more
    new FromPulsar(topic, schema, ReadOptions(CheckedOptions(options, Scope.BatchRead, _ => Nil)))
  }

  private def to(schema: TopicSchema) = new ToPulsar(topic, schema, cutsTimes = false)

  private def rowOf(struct: StructType, values: Any*) = new GenericRowWithSchema(values.toArray, struct)

  private def refused(condition: String)(body: => Any): String = intercept[RuntimeException](body) match {
    case e: PulsarError => assertEquals(e.condition, condition); e.getMessage
    case other          => fail("an error without a name", other)
  }

  private def sent[A <: AnyRef](value: A): A = {
    val bytes = new ByteArrayOutputStream
    new ObjectOutputStream(bytes).writeObject(value)
    new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray)).readObject().asInstanceOf[A]
  }

  property("a value passes from a row through Spark's external types unchanged") {
    forAll(RowGenerators.rows) { case (struct, rows) =>
      val toInternal = CatalystTypeConverters.createToCatalystConverter(struct)
      rows.foreach(row =>
        assertEquals(Plain.ofSpark(toInternal(ExternalValues.ofRow(struct)(row)), struct), Plain.ofSpark(row, struct))
      )
    }
  }

  property("to_pulsar and from_pulsar return the same value, of every type") {
    forAll(RowGenerators.rows) { case (struct, rows) =>
      val schema      = WritePlanner(struct, Some(topic), None, "avro").schema
      val (there, up) = (sent(to(schema)), sent(from(schema)))
      val toInternal  = CatalystTypeConverters.createToCatalystConverter(up.dataType)
      rows.foreach { row =>
        val bytes  = there.call(rowOf(struct, ExternalValues.ofRow(struct)(row).toSeq: _*))
        val result = Plain.ofSpark(toInternal(up.call(bytes, null)), up.dataType)
        assertEquals(result, Plain.ofSpark(row, struct))
      }
    }
  }

  test("values without fields need no struct, and bytes stay unchanged") {
    val numbers = TopicSchema("INT64")
    assertEquals(from(numbers).dataType, LongType: DataType)
    assertEquals(from(numbers).call(to(numbers).call(7), Array.emptyByteArray), 7L: Any)
    val bytes = Array[Byte](1, 2)
    assertEquals(to(TopicSchema.Bytes).call(bytes).toSeq, bytes.toSeq)
    assertEquals(
      from(TopicSchema("LOCAL_DATE")).call(to(TopicSchema("LOCAL_DATE")).call(LocalDate.EPOCH), null),
      LocalDate.EPOCH: Any
    )
    refused("PULSAR_WRITE_COLUMN_MISMATCH")(to(numbers).call("7"))
  }

  test("arrays and maps take their type from the topic") {
    val list = TopicSchema("AVRO", """{"type": "array", "items": ["null", "string"]}""")
    assertEquals(from(list).dataType, ArrayType(StringType): DataType)
    assertEquals(String.valueOf(from(list).call(to(list).call(Seq("a", null)), null)), "Vector(a, null)")
  }

  test("a key and a value in one payload are a struct") {
    val pair    = KeyValueSchema(TopicSchema("STRING"), record, separated = false).toTopicSchema()
    val columns = StructType(Seq(StructField("key", StringType), StructField("value", id)))
    val result  = from(pair).call(to(pair).call(rowOf(columns, "k", rowOf(id, 5))), null)
    assertEquals(String.valueOf(result), "[k,[5]]")
  }

  test("null as value, null as result in both directions") {
    assertEquals(from(record).call(null, null), null)
    assertEquals(to(record).call(null), null)
  }

  test("rows may have other fields from one value to the next, and metadata columns among them") {
    val function = to(record)
    val wide     = StructType(Seq(StructField("__sequenceId", LongType), StructField("id", ShortType)))
    val bytes    =
      Seq(rowOf(id, 1), rowOf(wide, 9L, 2.toShort), rowOf(wide, 8L, 3.toShort), rowOf(id, 4)).map(function.call)
    assertEquals(bytes.map(from(record).call(_, null)), Seq(1, 2, 3, 4).map(Row(_): Any))
    val text = refused("PULSAR_WRITE_COLUMN_MISMATCH")(
      function.call(rowOf(StructType(Seq(StructField("other", IntegerType))), 1))
    )
    assert(text.contains("other") || text.contains("id"), text)
  }

  test("a value that does not decode is an error without a position, or null") {
    val text = refused("PULSAR_VALUE_NOT_DECODABLE")(from(record).call(Array[Byte](-1), null))
    assert(text.contains(s"message with unknown position in topic $topic"), text)
    assertEquals(from(record, "onDecodeError" -> "null").call(Array[Byte](-1), null), null)
  }

  test("other columns than bytes are refused by name") {
    assert(refused("PULSAR_FUNCTION_ARGUMENT")(from(record).call("text", null)).contains(
      "from_pulsar received a String as its value"
    ))
    assert(refused("PULSAR_FUNCTION_ARGUMENT")(from(record).call(Array.emptyByteArray, 3L)).contains("schema version"))
  }

  test("a function shown as text, its topic and no secret") {
    assertEquals(from(record).toString, s"from_pulsar($topic)")
    assertEquals(to(record).toString, s"to_pulsar($topic)")
  }

  test("durations of any size, the same microseconds afterwards") {
    val struct = StructType(Seq(StructField("d", DayTimeIntervalType())))
    val micros = Seq(0L, -1L, Long.MaxValue, Long.MinValue)
    val there  = micros.map(m => ExternalValues.ofRow(struct)(InternalRow(m)).getAs[Duration](0))
    assertEquals(there.map(CatalystTypeConverters.createToCatalystConverter(DayTimeIntervalType())), micros)
  }
}
