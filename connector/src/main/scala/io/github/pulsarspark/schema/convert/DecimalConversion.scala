package io.github.pulsarspark.schema.convert

import java.math.{BigDecimal => JBigDecimal, BigInteger}

import org.apache.spark.sql.types.{Decimal, DecimalType}

/** Converts numbers with `scale` digits after the point to Spark decimals of type `to`. A number that does not fit
  * exactly is an error; nothing is rounded.
  */
private[schema] final class DecimalConversion(scale: Int, to: DecimalType) {
  private val sameScale = scale == to.scale
  // A number of this type that fits into a long needs no BigDecimal.
  private val limit =
    if (sameScale && to.precision <= Decimal.MAX_LONG_DIGITS) DecimalConversion.powers(to.precision) else 0L

  def of(unscaled: Long): Decimal =
    if (unscaled < limit && unscaled > -limit) Decimal.createUnsafe(unscaled, to.precision, to.scale)
    else of(JBigDecimal.valueOf(unscaled, scale))

  def of(unscaled: Array[Byte]): Decimal = {
    val number = new BigInteger(unscaled)
    if (number.bitLength > DecimalConversion.MaxBits)
      throw new MalformedValue(s"a number of ${number.bitLength} bits does not fit into ${to.sql}")
    of(new JBigDecimal(number, scale))
  }

  /** Compares digits first: writing out a number like 1e999999999 would use all memory. */
  def of(number: JBigDecimal): Decimal = {
    val digits = number.precision.toLong - number.scale
    if (number.signum != 0 && (digits > to.precision - to.scale || digits < -to.scale)) throw tooLarge(number)
    val exact =
      try number.setScale(to.scale)
      catch { case _: ArithmeticException => throw tooLarge(number) }
    if (exact.precision > to.precision) throw tooLarge(number)
    Decimal(exact, to.precision, to.scale)
  }

  private def tooLarge(number: JBigDecimal) = new MalformedValue(s"$number does not fit into ${to.sql}")
}

private[schema] object DecimalConversion {

  /** Limit of bits: far more than Spark's 38 digits with any zeros that a writer's scale adds. */
  private val MaxBits = 4096
  private val powers  = Array.iterate(1L, Decimal.MAX_LONG_DIGITS + 1)(_ * 10)
}
