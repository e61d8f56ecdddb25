package io.github.pulsarspark.schema

import munit.ScalaCheckSuite
import org.apache.pulsar.client.api.Schema
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String
import org.scalacheck.{Arbitrary, Gen}
import org.scalacheck.Prop.forAll

/** Pulsar's own schema classes are the oracle, in both directions. */
class PrimitiveSuite extends ScalaCheckSuite {

  private def both[T](name: String, dataType: DataType, schema: Schema[T], values: Gen[T])(toSpark: T => Any): Unit =
    property(s"$name as the client has it") {
      val topicSchema = TopicSchema(name)
      val columns     = SchemaTranslation.toStruct(Messages.topic, topicSchema)
      val plan        = WritePlan(columns, Some(Messages.topic), None, "auto")
      val encoder     = new RowEncoder(plan)
      val decoder     = Messages.decoder(topicSchema, columns)
      assertEquals(columns, StructType(Seq(StructField("value", dataType))))
      assertEquals(plan.schema, topicSchema)
      forAll(values) { v =>
        val bytes = schema.encode(v)
        assertEquals(encoder.encode(InternalRow(toSpark(v))).value.toSeq, bytes.toSeq)
        assertEquals[Any, Any](Plain.ofRow(decoder.decode(Messages.of(bytes)), columns)("value"), Plain.ofSpark(toSpark(v), dataType))
      }
    }

  private def boxed[A, B](gen: Gen[A], edges: A*)(box: A => B): Gen[B] =
    if (edges.isEmpty) gen.map(box) else Gen.oneOf(gen, Gen.oneOf(edges)).map(box)

  both("BOOLEAN", BooleanType, Schema.BOOL, boxed(Arbitrary.arbBool.arbitrary)(Boolean.box))(identity)
  both("INT8", ByteType, Schema.INT8, boxed(Arbitrary.arbByte.arbitrary, Byte.MinValue, Byte.MaxValue)(Byte.box))(identity)
  both("INT16", ShortType, Schema.INT16, boxed(Arbitrary.arbShort.arbitrary, Short.MinValue, Short.MaxValue)(Short.box))(identity)
  both("INT32", IntegerType, Schema.INT32, boxed(Arbitrary.arbInt.arbitrary, Int.MinValue, Int.MaxValue)(Int.box))(identity)
  both("INT64", LongType, Schema.INT64, boxed(Arbitrary.arbLong.arbitrary, Long.MinValue, Long.MaxValue)(Long.box))(identity)
  both("FLOAT", FloatType, Schema.FLOAT, boxed(Arbitrary.arbFloat.arbitrary, Float.NaN, Float.NegativeInfinity, -0.0f)(Float.box))(identity)
  both(
    "DOUBLE",
    DoubleType,
    Schema.DOUBLE,
    boxed(Arbitrary.arbDouble.arbitrary, Double.NaN, Double.PositiveInfinity, -0.0)(Double.box)
  )(identity)
  both("STRING", StringType, Schema.STRING, Gen.oneOf(Gen.alphaNumStr, Gen.oneOf("", "ä漢😀\u0000")))(UTF8String.fromString)
  both("BYTES", BinaryType, Schema.BYTES, Gen.listOf(Arbitrary.arbByte.arbitrary).map(_.toArray))(identity)

  test("a topic without schema is read as bytes, whatever version a message names") {
    for (schemaType <- Seq("NONE", "BYTES")) {
      val schema  = TopicSchema(schemaType)
      val columns = SchemaTranslation.toStruct(Messages.topic, schema)
      val row     =
        Messages.decoder(schema, columns, _ => TopicSchema("AVRO", "...")).decode(Messages.of(Array[Byte](1, 2), Messages.version(1)))
      assertEquals(row.getBinary(0).toSeq, Seq[Byte](1, 2))
    }
  }

  test("a tombstone is null, an empty value is not") {
    val columns = SchemaTranslation.toStruct(Messages.topic, TopicSchema.Bytes)
    val decoder = Messages.decoder(TopicSchema.Bytes, columns)
    assert(decoder.decode(Messages.tombstone).isNullAt(0))
    assertEquals(decoder.decode(Messages.of(Array.emptyByteArray)).getBinary(0).length, 0)
    val encoder = new RowEncoder(WritePlan(columns, Some(Messages.topic), None, "auto"))
    assertEquals(encoder.encode(InternalRow(null)).value, null)
    assertEquals(encoder.encode(InternalRow(Array.emptyByteArray)).value.length, 0)
  }

  test("a value of the wrong length is an error with its place") {
    val error = intercept[RuntimeException](Messages.decode(TopicSchema("INT32"), Array[Byte](1, 2)))
    assertEquals(
      error.getMessage,
      s"[PULSAR_VALUE_NOT_DECODABLE] The value of message 12:34:5 in topic ${Messages.topic} does not decode as INT32 (schema version none): the value has 2 " +
        "bytes instead of 4. What to do: Look at the message with a native client; it was not written with the schema it claims, or is damaged."
    )
  }
}
