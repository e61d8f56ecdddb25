package io.github.pulsarspark.schema.rows

import scala.util.{Failure, Success, Try}

import org.apache.avro.Schema
import org.apache.spark.sql.types._
import org.scalacheck.Gen
import org.scalacheck.Prop.forAll

import io.github.pulsarspark.PropertySuite
import io.github.pulsarspark.errors.{Conditions, PulsarError}
import io.github.pulsarspark.schema.TopicSchema

/** Messages of other schema versions, with Avro's resolving reader as the oracle. */
class SchemaEvolutionSuite extends PropertySuite(250) {
  import AvroGenerators._

  private val written = for {
    (reader, writer) <- EvolvedSchemas.pair
    data             <- Gen.listOfN(3, value(writer))
  } yield (writer, reader, data)

  private var resolved = 0
  private var refused  = 0

  property("resolves as Avro does, and fails where Avro fails") {
    forAll(written) { case (writer, reader, data) =>
      val schema  = TopicSchema("AVRO", reader.toString, version = Messages.version(2).toSeq)
      val columns = SchemaTranslation.toStruct(Messages.topic, schema)
      val decoder = Messages.decoder(schema, columns, _ => TopicSchema("AVRO", writer.toString))
      data.foreach { datum =>
        val bytes    = encoded(writer, datum)
        val expected = Try(decoded(writer, reader, bytes))
        val actual   = Try(Plain.ofRow(decoder.decode(Messages.of(bytes, Messages.version(1))), columns))
        (expected, actual) match {
          case (Success(e), Success(a)) => resolved += 1; assertEquals[Any, Any](a, Plain.ofAvro(e, reader))
          case (Failure(_), Failure(e: PulsarError)) =>
            refused += 1; assertEquals(e.condition, "PULSAR_SCHEMA_NOT_RESOLVABLE")
          case _ => fail(s"Avro: $expected, we: $actual")
        }
      }
    }
  }

  test("the property above has seen both") {
    assert(resolved > 100 && refused > 100,
      s"$resolved values were resolved, $refused refused: the generator is one-sided")
  }

  private def record(fields: String) = TopicSchema("AVRO", s"""{"type":"record","name":"R","fields":[$fields]}""")

  private def read(
      writer: TopicSchema,
      reader: TopicSchema,
      columns: StructType,
      datum: (String, Any)*
  ): Map[String, Any] = {
    val schema = new Schema.Parser().parse(writer.definition)
    val row    = new org.apache.avro.generic.GenericData.Record(schema)
    datum.foreach { case (k, v) => row.put(k, v) }
    val decoder = Messages.decoder(reader, columns, _ => writer)
    Plain.ofRow(decoder.decode(Messages.of(encoded(schema, row), Messages.version(1))), columns)
  }

  test("times keep their moment when the unit changes from version to version") {
    val millis = record("""{"name":"t","type":{"type":"long","logicalType":"timestamp-millis"}}""")
    val micros = record("""{"name":"t","type":{"type":"long","logicalType":"timestamp-micros"}}""")
    val nanos  = record("""{"name":"t","type":{"type":"long","logicalType":"timestamp-nanos"}}""")
    val t      = StructType(Seq(StructField("t", TimestampType)))
    assertEquals[Any, Any](read(millis, micros, t, "t" -> 1700000000123L)("t"), 1700000000123000L)
    assertEquals[Any, Any](read(micros, millis, t, "t" -> 1700000000123456L)("t"), 1700000000123456L)
    assertEquals[Any, Any](read(nanos, micros, t, "t" -> -1L)("t"), -1L)
  }

  test("decimals keep their value when the digits change, or fail") {
    def decimal(p: Int, s: Int) =
      record(s"""{"name":"d","type":{"type":"bytes","logicalType":"decimal","precision":$p,"scale":$s}}""")
    val wide  = StructType(Seq(StructField("d", DecimalType(20, 4))))
    val bytes = java.nio.ByteBuffer.wrap(Array[Byte](4, -46)) // 1234
    assertEquals[Any, Any](read(decimal(10, 2), decimal(20, 4), wide, "d" -> bytes)("d"),
      new java.math.BigDecimal("12.3400"))
    val narrow = StructType(Seq(StructField("d", DecimalType(10, 1))))
    val error  = intercept[RuntimeException](read(decimal(10, 2), decimal(10, 1), narrow, "d" -> bytes))
    assert(error.getMessage.contains("12.34 does not fit into DECIMAL(10,1)"), error.getMessage)
  }

  test("a default with many digits, read exactly") {
    val reader = record("""{"name":"a","type":{"type":"array","items":"double"},"default":[1.1,1e300]}""")
    val a      = StructType(Seq(StructField("a", ArrayType(DoubleType))))
    assertEquals[Any, Any](read(record(""), reader, a)("a"), Vector(1.1, 1e300).map(Plain.ofSpark(_, DoubleType)))
  }

  test("a field that a version does not have matters only to those who ask for it") {
    val old     = record("""{"name":"a","type":"int"}""")
    val current = record("""{"name":"a","type":"int"},{"name":"b","type":"string"}""")
    val a       = StructType(Seq(StructField("a", IntegerType)))
    assertEquals[Any, Any](read(old, current, a, "a" -> 5), Map("a" -> 5))
    val error = intercept[RuntimeException](read(old, current, a.add("b", StringType), "a" -> 5))
    assertEquals(
      error.getMessage,
      "[PULSAR_SCHEMA_NOT_RESOLVABLE] Message 12:34:5 in topic persistent://public/default/events-partition-3 was written with schema version 1, which cannot " +
        "be read as the newest version: Found R, expecting R, missing required field b. What to do: Add defaults to fields that were added or removed, or read the " +
        "versions in separate queries."
    )
  }

  test("a version is fetched once, and a message without version is read with the reader's schema") {
    val schema   = record("""{"name":"a","type":"int"}""").copy(version = Messages.version(7).toSeq)
    var fetched  = Seq.empty[Long]
    val columns  = SchemaTranslation.toStruct(Messages.topic, schema)
    val decoder  = Messages.decoder(schema, columns, v => { fetched :+= BigInt(v).toLong; schema })
    val versions = Seq(7, 3, 4, 3, 7, 4).map(n => Messages.version(n.toLong)) ++
      Seq(Array.emptyByteArray, Messages.version(3))
    versions.foreach(v => assertEquals(decoder.decode(Messages.of(Array[Byte](2), v)).getInt(0), 1))
    assertEquals(fetched, Seq(3L, 4L))
  }

  test(
    "a version that was deleted is an error of each of its values, and requested once; other failures are not kept"
  ) {
    val schema   = record("""{"name":"a","type":"int"}""").copy(version = Messages.version(7).toSeq)
    val columns  = SchemaTranslation.toStruct(Messages.topic, schema)
    var requests = 0
    val gone     = Conditions.SchemaVersionMissing(topic = Messages.topic, version = "3").exception
    val failed   = Conditions.RequestFailed(what = "w", url = "u", cause = "c").exception
    def decoder(error: RuntimeException) =
      Messages.decoder(schema, columns, _ => { requests += 1; throw error })
    def isOfMessage(decoder: RowDecoder): Boolean =
      intercept[RuntimeException](decoder.decode(Messages.of(Array[Byte](2), Messages.version(3)))) match {
        case DecodeError(_) => true
        case _              => false
      }
    val missing = decoder(gone)
    assertEquals((isOfMessage(missing), isOfMessage(missing), requests), (true, true, 1))
    assertEquals(missing.decode(Messages.of(Array[Byte](2), Messages.version(7))).getInt(0), 1)
    val unreachable = decoder(failed)
    assertEquals((isOfMessage(unreachable), isOfMessage(unreachable), requests), (false, false, 3))
  }

  test("a version of another type is an error, except that AVRO and JSON read each other") {
    val avro    = record("""{"name":"a","type":"int"}""")
    val columns = SchemaTranslation.toStruct(Messages.topic, avro)
    val json    = Messages.decoder(avro, columns, _ => avro.copy(schemaType = "JSON"))
    assertEquals(json.decode(Messages.of("""{"a":5}""".getBytes, Messages.version(1))).getInt(0), 5)
    val error = intercept[RuntimeException] {
      Messages.decoder(avro, columns, _ => TopicSchema("STRING")).decode(Messages.of("x".getBytes, Messages.version(1)))
    }
    assert(error.getMessage.contains("a value of type STRING cannot be read as AVRO"), error.getMessage)
  }
}
