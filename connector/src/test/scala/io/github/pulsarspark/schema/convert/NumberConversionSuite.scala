package io.github.pulsarspark.schema.convert

import java.math.{BigDecimal => JBigDecimal}

import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.types._

import io.github.pulsarspark.UnitSuite

/** Numbers of one type as another one: the edges, and the reasons of refusals. */
class NumberConversionSuite extends UnitSuite {

  private final class Refused(number: String, why: String) extends RuntimeException(s"$number: $why")
  private val convert = new NumberConversion(new Refused(_, _))

  private def in(value: Any)        = new GenericInternalRow(Array[Any](value))
  private def decimal(text: String) = { val d = Decimal(text); (DecimalType(d.precision, d.scale), d) }

  private def refused(expected: String)(body: => Any): Unit =
    assertEquals(intercept[Refused](body).getMessage, expected)

  private def whole(kind: DataType, value: Any, bits: Int) = convert.whole(kind, bits).get(in(value), 0)

  test("whole numbers of so many bits") {
    assertEquals((whole(LongType, 127L, 8), whole(LongType, -128L, 8)), (127L, -128L))
    assertEquals(whole(LongType, Long.MinValue, 64), Long.MinValue)
    refused("128: it is not within -128 and 127")(whole(LongType, 128L, 8))
    refused("-129: it is not within -128 and 127")(whole(IntegerType, -129, 8))
  }

  test("a fraction is a whole number where nothing is after its point") {
    assertEquals(whole(DoubleType, 7.0, 8), 7L)
    refused("7.5: it is not a whole number")(whole(DoubleType, 7.5, 8))
    refused("NaN: it is neither whole nor a decimal")(whole(DoubleType, Double.NaN, 8))
    refused("Infinity: it is neither whole nor a decimal")(whole(FloatType, Float.PositiveInfinity, 8))
    val (kind, large) = decimal("1" + "0" * 30)
    refused(s"1${"0" * 30}: it is not within ${Long.MinValue} and ${Long.MaxValue}")(whole(kind, large, 64))
  }

  test("64 bits without sign: the upper half is negative here") {
    def unsigned(kind: DataType, value: Any) = convert.unsigned64(kind).get(in(value), 0)
    val (kind, most)                         = decimal("18446744073709551615")
    assertEquals(unsigned(kind, most), -1L)
    refused("-1: it is not a number of 64 bits without sign")(unsigned(LongType, -1L))
    val (larger, more) = decimal("18446744073709551616")
    refused("18446744073709551616: it is not a number of 64 bits without sign")(unsigned(larger, more))
  }

  test("a floating point number that would be rounded is refused") {
    def double(kind: DataType, value: Any) = convert.double(kind).get(in(value), 0)
    def float(kind: DataType, value: Any)  = convert.float(kind).get(in(value), 0)
    assertEquals(double(LongType, 1L << 53), 9007199254740992.0)
    refused("9007199254740993: it would be rounded")(double(LongType, (1L << 53) + 1))
    refused(s"${Long.MaxValue}: it would be rounded")(double(LongType, Long.MaxValue))
    refused(s"${Long.MaxValue}: it would be rounded")(float(LongType, Long.MaxValue))
    refused("0.1: it would be rounded")(float(DoubleType, 0.1))
    assertEquals(float(DoubleType, -0.0).toString, "-0.0")
    assert(float(DoubleType, Double.NaN).isNaN)
  }

  test("a decimal is the floating point number that has no shorter name") {
    def double(text: String) = { val (kind, d) = decimal(text); convert.double(kind).get(in(d), 0) }
    assertEquals((double("0.1"), double("0.10")), (0.1, 0.1))
    refused("0.1234567890123456789: it would be rounded")(double("0.1234567890123456789"))
    val (kind, d) = decimal("0.123456789")
    refused("0.123456789: it would be rounded")(convert.float(kind).get(in(d), 0))
  }

  test("a decimal keeps its digits on both sides of the point") {
    def of(value: Double) = convert.decimal(DoubleType, precision = 3, scale = 1).get(in(value), 0)
    assertEquals(of(12.3), new JBigDecimal("12.3"))
    refused("12.34: it has more than 1 digits after the point")(of(12.34))
    refused("123.4: it has more than 2 digits before the point")(of(123.4))
    assertEquals(convert.decimal(IntegerType, 3, 1).get(in(7), 0), new JBigDecimal("7.0"))
  }

  test("other columns are no numbers") {
    assertEquals(
      Seq(convert.whole(StringType, 8), convert.unsigned64(BooleanType), convert.double(BinaryType),
        convert.float(DateType), convert.decimal(TimestampType, 9, 0)),
      Seq.fill(5)(None)
    )
  }

  test("the members of a union for a column: those that hold all of its numbers, then those that hold more") {
    val targets = Seq[DataType](FloatType, DecimalType(9, 2), DoubleType, IntegerType, LongType, DecimalType(38, 0))
    def ordered(column: DataType) = targets.sortBy(NumberConversion.preference(column, _)).map(_.sql)
    assertEquals(ordered(ShortType).take(4), Seq("DOUBLE", "INT", "BIGINT", "DECIMAL(38,0)"))
    assertEquals(ordered(LongType), Seq("BIGINT", "DECIMAL(38,0)", "INT", "DECIMAL(9,2)", "DOUBLE", "FLOAT"))
    assertEquals(ordered(FloatType).take(2), Seq("FLOAT", "DOUBLE"))
    assertEquals(ordered(DecimalType(9, 2)).head, "DECIMAL(9,2)")
  }
}
