package io.github.pulsarspark.schema.avro

import org.apache.avro.Schema
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.scalacheck.Prop.forAll

import io.github.pulsarspark.PropertySuite
import io.github.pulsarspark.schema.convert.MalformedValue
import io.github.pulsarspark.schema.rows.AvroGenerators.{anyRecord, dataOf, encoded}

class AvroSkipperSuite extends PropertySuite {

  private def over(bytes: Array[Byte]) = new AvroInput().reset(bytes, 0, bytes.length)

  private def parsed(text: String) = new Schema.Parser().parse(text)

  property("a value of any schema is skipped to its end, and so are two of them in one go") {
    forAll(dataOf(anyRecord)) { case (schema, data) =>
      val skipper = AvroSkipper(schema)
      val both    = skipper.andThen(AvroSkipper(schema))
      data.foreach { datum =>
        val bytes       = encoded(schema, datum)
        val (one, pair) = (over(bytes), over(bytes ++ bytes))
        skipper.skip(one)
        both.skip(pair)
        assertEquals((one.remaining, pair.remaining), (0, 0), s"$datum of $schema")
      }
    }
  }

  test("a skipped field leaves its column as it is") {
    val row = new GenericInternalRow(Array[Any](7))
    AvroSkipper(Schema.create(Schema.Type.INT)).set(over(Array[Byte](2)), row, 0)
    assertEquals(row.getInt(0), 7)
  }

  test("a record that contains itself is skipped, and refused where it would exhaust the stack") {
    val list = parsed("""{"type":"record","name":"L","fields":[{"name":"next","type":["null","L"]}]}""")
    val in   = over(Array[Byte](2, 2, 0))
    AvroSkipper(list).skip(in)
    assertEquals(in.remaining, 0)
    intercept[MalformedValue](AvroSkipper(list).skip(over(Array.fill[Byte](100000)(2))))
  }

  test("parts of fixed size are one step, unless their sum is no size") {
    val huge = parsed(s"""{"type":"record","name":"R","fields":[
      {"name":"a","type":{"type":"fixed","name":"A","size":${Int.MaxValue - 8}}},{"name":"b","type":"double"},
      {"name":"c","type":"double"}]}""")
    assertEquals(
      intercept[MalformedValue](AvroSkipper(huge).skip(over(Array.fill[Byte](9)(0)))).getMessage,
      s"${Int.MaxValue} bytes are needed where the value has 9 left"
    )
  }
}
