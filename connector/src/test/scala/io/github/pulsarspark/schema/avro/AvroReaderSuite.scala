package io.github.pulsarspark.schema.avro

import org.apache.avro.Schema
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.types.{DecimalType, NullType}
import org.apache.spark.unsafe.types.UTF8String

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.schema.avro.AvroReader._
import io.github.pulsarspark.schema.convert.{DecimalConversion, MalformedValue, UnresolvableSchema}

/** The readers of single values, as a compiler puts them together. */
class AvroReaderSuite extends UnitSuite {

  private def over(bytes: Int*): AvroInput = new AvroInput().reset(bytes.map(_.toByte).toArray, 0, bytes.size)

  private def field(reader: AvroReader, bytes: Int*): Any = {
    val row = new GenericInternalRow(2)
    reader.set(over(bytes: _*), row, 1)
    row.get(1, NullType)
  }

  private val one      = Seq(2)
  private val oneFloat = Seq(0, 0, 0x80, 0x3f)

  for (
    (name, reader, bytes, expected) <- Seq[(String, AvroReader, Seq[Int], Any)](
      ("int as int", IntAsInt, one, 1),
      ("int as long", IntAsLong, one, 1L),
      ("int as float", IntAsFloat, one, 1f),
      ("int as double", IntAsDouble, one, 1d),
      ("long as long", LongAsLong, one, 1L),
      ("long as float", LongAsFloat, one, 1f),
      ("long as double", LongAsDouble, one, 1d),
      ("float as float", FloatAsFloat, oneFloat, 1f),
      ("float as double", FloatAsDouble, oneFloat, 1d),
      ("double as double", DoubleAsDouble, Seq(0, 0, 0, 0, 0, 0, 0xf0, 0x3f), 1d),
      ("boolean", Bool, Seq(1), true),
      ("null", Null, Nil, null),
      ("time", new Time(AvroTimeUnit.Scaling(1000, 1)), one, 1000L)
    )
  ) test(s"$name, the same as a field and as an item") {
    assertEquals[Any, Any](reader.value(over(bytes: _*)), expected)
    assertEquals[Any, Any](field(reader, bytes: _*), expected)
  }

  test("a decimal of eight bytes and one of nine, the same number") {
    val reader = new Decimal(-1, new DecimalConversion(2, DecimalType(20, 2)))
    val short  = reader.value(over(0x10, -1, -1, -1, -1, -1, -1, -1, -2))
    val long   = reader.value(over(0x12, -1, -1, -1, -1, -1, -1, -1, -1, -2))
    assertEquals((short.toString, long.toString), ("-0.02", "-0.02"))
    assertEquals(new Decimal(2, new DecimalConversion(0, DecimalType(9, 0))).value(over(1, 0)).toString, "256")
  }

  test("a symbol that the reader's schema lacks, an error with its name") {
    val reader = new Enum(Array(UTF8String.fromString("A"), null), Seq("A", "B"))
    assertEquals(reader.value(over(0)).toString, "A")
    assertEquals(intercept[UnresolvableSchema](reader.value(over(2))).getMessage,
      "enum symbol B is not in the schema it is read with")
  }

  test("an array of several blocks, all of their items") {
    val array = new Sequence(IntAsInt).value(over(2, 2, 6, 4, 6, 8, 0))
    assertEquals(array.toString, "[1,2,3,4]")
    assertEquals(new Sequence(IntAsInt).value(over(0)).toString, "[]")
  }

  test("a map of several blocks, a repeated key with its last value") {
    val map = new Mapping(IntAsInt).value(over(4, 2, 'a', 2, 2, 'b', 4, 2, 2, 'a', 6, 0))
    assertEquals(map.toString, "keys: [a,b], values: [3,2]")
  }

  test("a union, the branch that is written") {
    val union = new Union(Array(Null, IntAsLong))
    assertEquals[Any, Any](Seq(Seq(0), Seq(2, 2)).map(b => union.value(over(b: _*))), Seq[Any](null, 1L))
    assertEquals[Any, Any](field(union, 2, 2), 1L)
    intercept[MalformedValue](union.value(over(4)))
  }

  test("a union as a struct, the other members null") {
    val row = new Member(IntAsInt, 1, 3).value(over(2)).asInstanceOf[InternalRow]
    assertEquals((row.numFields, row.isNullAt(0), row.getInt(1), row.isNullAt(2)), (3, true, 1, true))
  }

  private val ints = Schema.create(Schema.Type.INT)

  private def record = new Record(
    Array(AvroSkipper(ints), IntAsInt, AvroSkipper(ints)),
    Array(-1, 0, -1),
    Array((1, UTF8String.fromString("default"))),
    size = 2
  )

  test("a record in another one is read to its end, since more follows") {
    val in  = over(2, 4, 6, 8)
    val row = record.value(in).asInstanceOf[InternalRow]
    assertEquals((row.getInt(0), row.getUTF8String(1).toString, in.remaining), (2, "default", 1))
  }

  test("a record that is a whole value: its fields at their places, nothing read after the last one") {
    val in  = over(2, 4, 6)
    val row = new GenericInternalRow(4)
    record.atTop(Array(3, 1)).setAll(in, row)
    assertEquals((row.getInt(3), row.getUTF8String(1).toString, in.remaining), (2, "default", 1))
  }

  test("a branch that cannot be read fails only for a message that has it") {
    val union = new Union(Array(IntAsInt, new Unresolvable("no such type")))
    assertEquals[Any, Any](union.value(over(0, 2)), 1)
    assertEquals(intercept[UnresolvableSchema](union.value(over(2, 2))).getMessage, "no such type")
  }
}
