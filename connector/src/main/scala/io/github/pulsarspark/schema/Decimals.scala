package io.github.pulsarspark.schema

import java.math.{BigDecimal => JBigDecimal, BigInteger}

import org.apache.spark.sql.types.{Decimal, DecimalType}

/** Makes Spark decimals of type `to` from numbers with `scale` digits after the point; a number that does not fit exactly is an error,
  * never rounded.
  */
private[schema] final class Decimals(scale: Int, to: DecimalType) {
  private val sameScale = scale == to.scale
  // Whatever fits into a long of this type needs no BigDecimal.
  private val limit = if (sameScale && to.precision <= Decimal.MAX_LONG_DIGITS) Decimals.powers(to.precision) else 0L

  def of(unscaled: Long): Decimal =
    if (unscaled < limit && unscaled > -limit) Decimal.createUnsafe(unscaled, to.precision, to.scale)
    else of(JBigDecimal.valueOf(unscaled, scale))

  def of(unscaled: Array[Byte]): Decimal = of(new JBigDecimal(new BigInteger(unscaled), scale))

  def of(number: JBigDecimal): Decimal = {
    val exact =
      try number.setScale(to.scale)
      catch { case _: ArithmeticException => throw misfit(number) }
    if (exact.precision > to.precision) throw misfit(number)
    Decimal(exact, to.precision, to.scale)
  }

  private def misfit(number: JBigDecimal) = new MalformedValue(s"$number does not fit into ${to.sql}")
}

private[schema] object Decimals {
  private val powers = Array.iterate(1L, Decimal.MAX_LONG_DIGITS + 1)(_ * 10)
}
