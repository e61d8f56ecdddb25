package io.github.pulsarspark.schema.json

import java.math.{BigDecimal => JBigDecimal, RoundingMode}
import java.time.{DateTimeException, LocalDate, LocalDateTime, LocalTime, OffsetDateTime, ZoneOffset}

import com.fasterxml.jackson.core.{JsonParser, JsonToken}
import org.apache.spark.sql.catalyst.InternalRow

import io.github.pulsarspark.schema.convert.{MalformedValue, SparkTime}

/** Takes a date or time in any form that writers have for it: a whole number in the unit of the schema; as Jackson
  * writes classes of `java.time`, seconds with a point for an instant and arrays for local dates and times; and ISO
  * 8601 as other languages do. A form that leaves the moment open, such as an instant without a zone, is an error.
  *
  * @param whole
  *   what a whole number in the unit of the schema is in a row
  */
private[json] abstract class JsonTime(whole: Long => Long) extends JsonReader {

  /** The number for the row. */
  final protected def number(p: JsonParser): Long =
    try
      p.currentToken match {
        case JsonToken.VALUE_NUMBER_INT   => whole(p.getLongValue)
        case JsonToken.VALUE_NUMBER_FLOAT => ofNumber(p.getDecimalValue).getOrElse(throw unexpected(p))
        case JsonToken.START_ARRAY        => ofArray(JsonTime.array(p)).getOrElse(throw unexpected(p))
        case JsonToken.VALUE_STRING       => ofAnyText(p.getText.trim)
        case _                            => throw unexpected(p)
      }
    catch {
      case e: DateTimeException   => throw new MalformedValue(e.getMessage)
      case _: ArithmeticException => throw new MalformedValue(s"${JsonTime.shown(p.getText)} is out of range")
    }

  private def ofAnyText(text: String): Long = text.toLongOption match {
    case Some(number)                         => whole(inText(number))
    case None if JsonTime.point.matches(text) =>
      ofNumber(new JBigDecimal(text)).getOrElse(throw new DateTimeException(s"$text is no date or time"))
    case None => ofText(text)
  }

  /** Reads a number with a fraction or an exponent, else a whole number. */
  private def ofNumber(number: JBigDecimal): Option[Long] =
    ofSeconds(number).orElse(JsonTime.integer(number).map(whole))

  override def value(p: JsonParser): Any                                = number(p)
  override def set(p: JsonParser, row: InternalRow, ordinal: Int): Unit = row.setLong(ordinal, number(p))

  /** Interprets a whole number in a text. */
  protected def inText(number: Long): Long                    = number
  protected def ofSeconds(seconds: JBigDecimal): Option[Long] = None
  protected def ofArray(parts: Seq[Int]): Option[Long]        = None

  /** Fails with a `DateTimeException`. */
  protected def ofText(text: String): Long

  private def unexpected(p: JsonParser) = JsonReader.unexpected(p, "a date or time of its schema")
}

private[json] object JsonTime {

  /** Days since 1970. */
  object Date extends JsonTime(identity) {
    override def value(p: JsonParser): Any = SparkTime.days(number(p))

    override def set(p: JsonParser, row: InternalRow, ordinal: Int): Unit =
      row.setInt(ordinal, SparkTime.days(number(p)))

    override protected def ofText(text: String): Long             = LocalDate.parse(text).toEpochDay
    override protected def ofArray(parts: Seq[Int]): Option[Long] =
      if (parts.size == 3) Some(date(parts).toEpochDay) else None

    /** `20240229` is a date without hyphens rather than a day after the year 9999. */
    override protected def inText(days: Long): Long =
      if (days.abs <= LastDay) days else throw new DateTimeException(s"$days is no number of days")
  }

  /** @param join
    *   what seconds since 1970 and the nanoseconds after them are in a row
    */
  final class Instant(whole: Long => Long, join: (Long, Int) => Long) extends JsonTime(whole) {
    override protected def ofText(text: String): Long = {
      val time = OffsetDateTime.parse(text)
      join(time.toEpochSecond, time.getNano)
    }

    /** Time of seconds; None after the year 9999, where a decimal point does not mean seconds. */
    override protected def ofSeconds(seconds: JBigDecimal): Option[Long] =
      Option.when(isShort(seconds) && seconds.abs.compareTo(LastSecond) <= 0) {
        val whole = seconds.setScale(0, RoundingMode.FLOOR)
        join(whole.longValueExact, seconds.subtract(whole).movePointRight(9).intValue)
      }
  }

  /** @param join
    *   as for an instant, on a clock of UTC
    */
  final class Local(whole: Long => Long, join: (Long, Int) => Long) extends JsonTime(whole) {
    override protected def ofText(text: String): Long             = of(LocalDateTime.parse(text))
    override protected def ofArray(parts: Seq[Int]): Option[Long] =
      Some(of(LocalDateTime.of(date(parts), time(parts.drop(3)))))

    private def of(time: LocalDateTime) = join(time.toEpochSecond(ZoneOffset.UTC), time.getNano)
  }

  /** @param unitNanos
    *   nanoseconds in one unit of the number
    */
  final class OfDay(unitNanos: Long, whole: Long => Long) extends JsonTime(whole) {
    override protected def ofText(text: String): Long             = LocalTime.parse(text).toNanoOfDay / unitNanos
    override protected def ofArray(parts: Seq[Int]): Option[Long] = Some(time(parts).toNanoOfDay / unitNanos)
  }

  /** Milliseconds of the day, which the schema has as an int. */
  object MillisOfDay extends JsonReader {
    private val time = new OfDay(1000000L, identity)

    override def value(p: JsonParser): Any                                = millis(p)
    override def set(p: JsonParser, row: InternalRow, ordinal: Int): Unit = row.setInt(ordinal, millis(p))

    private def millis(p: JsonParser): Int = {
      val number = time.value(p).asInstanceOf[Long]
      if (number != number.toInt) throw new MalformedValue(s"$number is not an int")
      number.toInt
    }
  }

  /** Microseconds of a time, for rows that hold them. */
  def micros(seconds: Long, nanos: Int): Long = SparkTime.ofSeconds(seconds, nanos.toLong)

  /** Nanoseconds of a time, for rows that hold them. */
  def nanos(seconds: Long, nanos: Int): Long = Math.addExact(Math.multiplyExact(seconds, 1000000000L), nanos.toLong)

  private val LastDay    = 2932896L // of the year 9999
  private val LastSecond = new JBigDecimal("253402300800")

  /** True if the number has few enough digits to compute with: writing out `1e-9999999` would take hours. */
  private def isShort(number: JBigDecimal) = number.scale <= MaxDigits && number.precision <= MaxDigits
  private val MaxDigits                    = 1000

  private def integer(number: JBigDecimal): Option[Long] =
    if (!isShort(number) || number.precision - number.scale > 19) None
    else
      try Some(number.longValueExact)
      catch { case _: ArithmeticException => None }

  private def shown(text: String) = if (text.length <= 40) text else text.take(40) + "..."

  /** Year, month and day. */
  private def date(parts: Seq[Int]): LocalDate =
    if (parts.size < 3) throw new DateTimeException(s"[${parts.mkString(",")}] is no date")
    else LocalDate.of(parts(0), parts(1), parts(2))

  /** Hour, minute, second and nanosecond, of which the last ones may be missing. */
  private def time(parts: Seq[Int]): LocalTime =
    if (parts.size < 2 || parts.size > 4) throw new DateTimeException(s"[${parts.mkString(",")}] is no time")
    else LocalTime.of(parts(0), parts(1), parts.lift(2).getOrElse(0), parts.lift(3).getOrElse(0))

  private val MaxParts = 7
  private val point    = """-?\d{1,19}\.\d{1,9}""".r

  private def array(p: JsonParser): Seq[Int] = {
    val parts = Seq.newBuilder[Int]
    var count = 0
    while (p.nextToken() == JsonToken.VALUE_NUMBER_INT && count < MaxParts) {
      parts += p.getIntValue
      count += 1
    }
    if (p.currentToken != JsonToken.END_ARRAY) throw JsonReader.unexpected(p, "the end of a date or time")
    parts.result()
  }
}
