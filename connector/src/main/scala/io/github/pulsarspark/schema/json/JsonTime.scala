package io.github.pulsarspark.schema.json

import java.math.{BigDecimal => JBigDecimal}
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
        case JsonToken.VALUE_NUMBER_FLOAT => ofSeconds(p.getDecimalValue).getOrElse(throw unexpected(p))
        case JsonToken.START_ARRAY        => ofArray(JsonTime.array(p)).getOrElse(throw unexpected(p))
        case JsonToken.VALUE_STRING       =>
          val text = p.getText.trim
          text.toLongOption.fold(ofText(text))(whole)
        case _ => throw unexpected(p)
      }
    catch {
      case e: DateTimeException   => throw new MalformedValue(e.getMessage)
      case _: ArithmeticException => throw new MalformedValue(s"${p.getText} is out of range")
    }

  override def value(p: JsonParser): Any                                = number(p)
  override def set(p: JsonParser, row: InternalRow, ordinal: Int): Unit = row.setLong(ordinal, number(p))

  protected def ofSeconds(seconds: JBigDecimal): Option[Long] = None
  protected def ofArray(parts: Seq[Int]): Option[Long]        = None

  /** Fails with a `DateTimeException`. */
  protected def ofText(text: String): Long

  private def unexpected(p: JsonParser) = JsonReader.unexpected(p, "a date or time of its schema")
}

private[json] object JsonTime {

  /** Days since 1970. */
  object Date extends JsonTime(identity) {
    override def value(p: JsonParser): Any                                = SparkTime.days(number(p))
    override def set(p: JsonParser, row: InternalRow, ordinal: Int): Unit =
      row.setInt(ordinal, SparkTime.days(number(p)))
    override protected def ofText(text: String): Long             = LocalDate.parse(text).toEpochDay
    override protected def ofArray(parts: Seq[Int]): Option[Long] = Some(date(parts)).map(_.toEpochDay)
  }

  /** @param join
    *   what seconds since 1970 and the nanoseconds after them are in a row
    */
  final class Instant(whole: Long => Long, join: (Long, Int) => Long) extends JsonTime(whole) {
    override protected def ofText(text: String): Long =
      if (seconds.matches(text)) split(new JBigDecimal(text))(join)
      else {
        val time = OffsetDateTime.parse(text)
        join(time.toEpochSecond, time.getNano)
      }

    override protected def ofSeconds(seconds: JBigDecimal): Option[Long] = Some(split(seconds)(join))
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
  final class OfDay(unitNanos: Long) extends JsonTime(identity) {
    override protected def ofText(text: String): Long             = LocalTime.parse(text).toNanoOfDay / unitNanos
    override protected def ofArray(parts: Seq[Int]): Option[Long] = Some(time(parts).toNanoOfDay / unitNanos)
  }

  /** Milliseconds of the day, which the schema has as an int. */
  object MillisOfDay extends JsonReader {
    private val time = new OfDay(1000000L)

    override def value(p: JsonParser): Any                                = time.value(p).asInstanceOf[Long].toInt
    override def set(p: JsonParser, row: InternalRow, ordinal: Int): Unit =
      row.setInt(ordinal, value(p).asInstanceOf[Int])
  }

  /** For rows that hold microseconds. */
  def micros(seconds: Long, nanos: Int): Long = SparkTime.ofSeconds(seconds, nanos.toLong)

  /** For rows that hold nanoseconds. */
  def nanos(seconds: Long, nanos: Int): Long = Math.addExact(Math.multiplyExact(seconds, 1000000000L), nanos.toLong)

  private def split(seconds: JBigDecimal)(join: (Long, Int) => Long): Long = {
    if (seconds.precision - seconds.scale > 19) throw new ArithmeticException
    val whole = seconds.setScale(0, java.math.RoundingMode.FLOOR)
    join(whole.longValueExact, seconds.subtract(whole).movePointRight(9).intValue)
  }

  /** Year, month and day. */
  private def date(parts: Seq[Int]): LocalDate =
    if (parts.size < 3) throw new DateTimeException(s"[${parts.mkString(",")}] is no date")
    else LocalDate.of(parts(0), parts(1), parts(2))

  /** Hour, minute, second and nanosecond, of which the last ones may be missing. */
  private def time(parts: Seq[Int]): LocalTime =
    if (parts.size < 2 || parts.size > 4) throw new DateTimeException(s"[${parts.mkString(",")}] is no time")
    else LocalTime.of(parts(0), parts(1), parts.lift(2).getOrElse(0), parts.lift(3).getOrElse(0))

  private val MostParts = 7
  private val seconds   = """-?\d{1,19}\.\d{1,9}""".r

  private def array(p: JsonParser): Seq[Int] = {
    val parts = Seq.newBuilder[Int]
    var count = 0
    while (p.nextToken() == JsonToken.VALUE_NUMBER_INT && count < MostParts) {
      parts += p.getIntValue
      count += 1
    }
    if (p.currentToken != JsonToken.END_ARRAY) throw JsonReader.unexpected(p, "the end of a date or time")
    parts.result()
  }
}
