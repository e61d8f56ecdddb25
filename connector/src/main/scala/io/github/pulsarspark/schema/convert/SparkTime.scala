package io.github.pulsarspark.schema.convert

import java.time.{LocalDateTime, ZoneOffset}

/** Converts times of Pulsar's schemas to Spark's units, microseconds and days. Parts of a microsecond are cut towards
  * the past, as Spark does with `java.time` objects. No time zone is involved.
  */
private[schema] object SparkTime {
  val MicrosPerDay: Long         = 86400L * 1000 * 1000
  val NanosPerDay: Long          = MicrosPerDay * 1000
  private val MicrosPerSecond    = 1000000L
  private def tooFar(of: String) = new MalformedValue(s"$of are more than a timestamp can hold")

  def ofMillis(millis: Long): Long =
    try Math.multiplyExact(millis, 1000L)
    catch { case _: ArithmeticException => throw tooFar(s"$millis ms since 1970") }

  def ofSeconds(seconds: Long, nanos: Long): Long = {
    val micros = Math.floorDiv(nanos, 1000L)
    try
      // The start of the smallest second does not fit into microseconds.
      if (seconds < 0 && micros > 0)
        Math.addExact(Math.multiplyExact(seconds + 1, MicrosPerSecond), micros - MicrosPerSecond)
      else Math.addExact(Math.multiplyExact(seconds, MicrosPerSecond), micros)
    catch { case _: ArithmeticException => throw tooFar(s"$seconds s since 1970") }
  }

  def ofDay(day: Long, nanoOfDay: Long): Long = {
    val micros = nanosOfDay(nanoOfDay) / 1000
    try
      if (day < 0) Math.addExact(Math.multiplyExact(day + 1, MicrosPerDay), micros - MicrosPerDay)
      else Math.addExact(Math.multiplyExact(day, MicrosPerDay), micros)
    catch { case _: ArithmeticException => throw tooFar(s"$day days since 1970") }
  }

  def nanosOfDay(nanos: Long): Long =
    if (isTimeOfDay(nanos)) nanos else throw new MalformedValue(s"$nanos ns are not a time of day")

  def isTimeOfDay(nanos: Long): Boolean = nanos >= 0 && nanos < NanosPerDay

  def days(days: Long): Int =
    if (days == days.toInt) days.toInt
    else throw new MalformedValue(s"$days days since 1970 are more than a date can hold")

  /** Text of a time in ISO 8601, without a zone. */
  def text(micros: Long): String =
    LocalDateTime.ofEpochSecond(secondsOf(micros), nanosOf(micros), ZoneOffset.UTC).toString

  def secondsOf(micros: Long): Long = Math.floorDiv(micros, MicrosPerSecond)
  def nanosOf(micros: Long): Int    = Math.floorMod(micros, MicrosPerSecond).toInt * 1000
}
