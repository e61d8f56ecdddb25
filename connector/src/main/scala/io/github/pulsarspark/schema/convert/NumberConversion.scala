package io.github.pulsarspark.schema.convert

import java.lang.{Double => JDouble, Float => JFloat}
import java.math.{BigDecimal => JBigDecimal, BigInteger, RoundingMode}

import org.apache.spark.sql.catalyst.expressions.SpecializedGetters
import org.apache.spark.sql.types._

/** Reads numbers of any type as numbers of another one, exactly: a number that the other type cannot hold is an error,
  * and nothing is rounded.
  *
  * A decimal and a floating point number are the same if each is what the other is written as: 0.1 is the DOUBLE that
  * is nearest to it, which has no other name of so few digits. Each method returns None for a column that is not a
  * number.
  *
  * @param refused
  *   the error for a number; takes the number and the reason
  */
private[schema] final class NumberConversion(refused: (String, String) => Throwable) {
  import NumberConversion._

  /** Reads whole numbers of so many bits with a sign. */
  def whole(column: DataType, bits: Int): Option[ToLong] = {
    val max = Long.MaxValue >> (64 - bits)
    within(column, -max - 1, max)
  }

  /** Reads whole numbers within these bounds. */
  def within(column: DataType, min: Long, max: Long): Option[ToLong] = {
    def fitting(number: Long): Long =
      if (number >= min && number <= max) number else throw refused(number.toString, outside(min, max))
    def ofDecimal(number: JBigDecimal): Long = {
      val whole = this.whole(number)
      if (whole.bitLength < 64) fitting(whole.longValue) else throw refused(whole.toString, outside(min, max))
    }
    wholeNumbers(column).map[ToLong](n => (from, i) => fitting(n(from, i)))
      .orElse(fractions(column).map(n => (from, i) => ofDecimal(n(from, i))))
  }

  /** Reads whole numbers of 64 bits without sign; the largest ones are negative here. */
  def unsigned64(column: DataType): Option[ToLong] = {
    def fitting(number: BigInteger): Long =
      if (number.signum >= 0 && number.bitLength <= 64) number.longValue
      else throw refused(number.toString, "it is not a number of 64 bits without sign")
    wholeNumbers(column).map[ToLong](n => (from, i) => fitting(BigInteger.valueOf(n(from, i))))
      .orElse(fractions(column).map(n => (from, i) => fitting(whole(n(from, i)))))
  }

  def double(column: DataType): Option[ToDouble] = column match {
    case FloatType      => Some((from, i) => from.getFloat(i).toDouble)
    case DoubleType     => Some((from, i) => from.getDouble(i))
    case _: DecimalType =>
      fractions(column).map(n => (from, i) => near[Double](n(from, i))(_.doubleValue, new JBigDecimal(_)))
    case _ =>
      wholeNumbers(column).map { n => (from, i) =>
        val number = n(from, i)
        val result = number.toDouble
        if (result < AboveLong && result.toLong == number) result else throw refused(number.toString, NotExact)
      }
  }

  def float(column: DataType): Option[ToFloat] = column match {
    case FloatType  => Some((from, i) => from.getFloat(i))
    case DoubleType => Some { (from, i) =>
        val number = from.getDouble(i)
        val result = number.toFloat
        if (JDouble.compare(result.toDouble, number) == 0) result else throw refused(number.toString, NotExact)
      }
    case _: DecimalType =>
      fractions(column).map(n => (from, i) => near[Float](n(from, i))(_.floatValue, f => new JBigDecimal(f.toDouble)))
    case _ =>
      wholeNumbers(column).map { n => (from, i) =>
        val number = n(from, i)
        val result = number.toFloat
        if (result < AboveLong && result.toLong == number) result else throw refused(number.toString, NotExact)
      }
  }

  /** Reads numbers of at most `precision` digits, of which `scale` are after the point; Avro has more than Spark. */
  def decimal(column: DataType, precision: Int, scale: Int): Option[ToDecimal] = {
    def fitting(number: JBigDecimal): JBigDecimal = {
      val exact =
        try number.setScale(scale)
        catch {
          case _: ArithmeticException =>
            throw refused(number.toString, s"it has more than $scale digits after the point")
        }
      if (exact.precision <= precision) exact
      else throw refused(number.toString, s"it has more than ${precision - scale} digits before the point")
    }
    fractions(column).map[ToDecimal](n => (from, i) => fitting(n(from, i)))
      .orElse(wholeNumbers(column).map(n => (from, i) => fitting(JBigDecimal.valueOf(n(from, i)))))
  }

  /** The floating point number that is nearest to a decimal, if it is not the nearest to others of as many digits. */
  private def near[A](number: JBigDecimal)(convert: JBigDecimal => A, exactly: A => JBigDecimal): A = {
    val digits = number.stripTrailingZeros
    val result = convert(digits)
    if (exactly(result).setScale(digits.scale, RoundingMode.HALF_EVEN).compareTo(digits) == 0) result
    else throw refused(number.toPlainString, NotExact)
  }

  private def whole(number: JBigDecimal): BigInteger =
    try number.toBigIntegerExact
    catch { case _: ArithmeticException => throw refused(number.toString, "it is not a whole number") }

  private def fractions(column: DataType): Option[ToDecimal] = column match {
    case FloatType => Some { (from, i) =>
        val number = from.getFloat(i)
        if (JFloat.isFinite(number)) new JBigDecimal(number.toString) else throw refused(number.toString, NoNumber)
      }
    case DoubleType => Some { (from, i) =>
        val number = from.getDouble(i)
        if (JDouble.isFinite(number)) JBigDecimal.valueOf(number) else throw refused(number.toString, NoNumber)
      }
    case d: DecimalType => Some((from, i) => from.getDecimal(i, d.precision, d.scale).toJavaBigDecimal)
    case _              => None
  }
}

private[schema] object NumberConversion {

  trait ToLong    { def apply(from: SpecializedGetters, ordinal: Int): Long        }
  trait ToFloat   { def apply(from: SpecializedGetters, ordinal: Int): Float       }
  trait ToDouble  { def apply(from: SpecializedGetters, ordinal: Int): Double      }
  trait ToDecimal { def apply(from: SpecializedGetters, ordinal: Int): JBigDecimal }

  private val NotExact = "it would be rounded"
  private val NoNumber = "it is neither whole nor a decimal"

  /** The floating point number after the largest BIGINT. */
  private val AboveLong = -Long.MinValue.toDouble

  private def outside(min: Long, max: Long) = s"it is not within $min and $max"

  private def wholeNumbers(column: DataType): Option[ToLong] = column match {
    case ByteType    => Some((from, i) => from.getByte(i).toLong)
    case ShortType   => Some((from, i) => from.getShort(i).toLong)
    case IntegerType => Some((from, i) => from.getInt(i).toLong)
    case LongType    => Some((from, i) => from.getLong(i))
    case _           => None
  }

  /** Order in which the types of a union are tried for a column: those that hold all of its numbers, then those that
    * hold more of them than the next.
    */
  def preference(column: DataType, target: DataType): Int = (column, target) match {
    case (same, other) if same == other                                                        => 0
    case (ByteType | ShortType | IntegerType, IntegerType | LongType | DoubleType)             => 1
    case (FloatType, DoubleType)                                                               => 1
    case (ByteType | ShortType | IntegerType | LongType, wide: DecimalType) if wide.scale == 0 => 2
    case (ByteType | ShortType | IntegerType | LongType, LongType)                             => 3
    case (ByteType | ShortType | IntegerType | LongType, IntegerType)                          => 4
    case (_, _: DecimalType)                                                                   => 5
    case (_, DoubleType)                                                                       => 6
    case (_, FloatType)                                                                        => 7
    case (_, LongType)                                                                         => 8
    case _                                                                                     => 9
  }
}
