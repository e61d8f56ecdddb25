package io.github.pulsarspark.schema.avro

import org.apache.avro.Schema

import io.github.pulsarspark.UnitSuite

class AvroTimeUnitSuite extends UnitSuite {

  private def long(unit: String): Schema =
    new Schema.Parser().parse(s"""{"type":"long","logicalType":"$unit"}""")

  private val plain = Schema.create(Schema.Type.LONG)

  private def scaled(writer: Schema, reader: Schema, number: Long): Long =
    AvroTimeUnit.scaling(writer, reader)(number)

  test("a time keeps its moment, in microseconds, whatever unit its writer had") {
    assertEquals(scaled(long("timestamp-millis"), long("timestamp-micros"), 7), 7000L)
    assertEquals(scaled(long("timestamp-micros"), long("timestamp-millis"), 7), 7L)
    assertEquals(scaled(long("timestamp-nanos"), long("timestamp-micros"), 7999), 7L)
    assertEquals(scaled(long("local-timestamp-millis"), long("local-timestamp-micros"), 7), 7000L)
  }

  test("parts of a microsecond are cut towards the past") {
    assertEquals(scaled(long("timestamp-nanos"), long("timestamp-micros"), -1), -1L)
  }

  test("a number that is shown as it is has the unit of the reader's schema") {
    assertEquals(scaled(long("timestamp-millis"), long("timestamp-nanos"), 7), 7000000L)
    assertEquals(scaled(long("time-micros"), long("time-micros"), 7), 7L)
  }

  test("a writer without a unit has the reader's, and a reader without one takes the number") {
    assertEquals(scaled(plain, long("timestamp-millis"), 7), 7000L)
    assertEquals(scaled(long("timestamp-millis"), plain, 7), 7L)
  }

  test("a time that does not fit is an error, never another time") {
    intercept[ArithmeticException](scaled(long("timestamp-millis"), long("timestamp-micros"), Long.MaxValue / 999))
  }
}
