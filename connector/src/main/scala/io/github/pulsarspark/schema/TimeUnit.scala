package io.github.pulsarspark.schema

import org.apache.avro.{LogicalType, Schema}
import org.apache.spark.sql.types.{DataType, LongType, TimestampNTZType, TimestampType}

/** What the number of a time in an Avro schema counts.
  *
  * @param nanos
  *   nanoseconds in one unit
  */
private[schema] final case class TimeUnit(nanos: Long, sparkType: DataType) {

  def isMillis: Boolean = nanos == TimeUnit.Millis

  /** Unit of the number in Spark: microseconds, except where the number is shown as it is. */
  private def inSpark: Long = if (sparkType == LongType) nanos else TimeUnit.Micros
}

private[schema] object TimeUnit {
  private val Millis = 1000000L
  private val Micros = 1000L

  private val units = Map(
    "timestamp-millis"       -> TimeUnit(Millis, TimestampType),
    "timestamp-micros"       -> TimeUnit(Micros, TimestampType),
    "timestamp-nanos"        -> TimeUnit(1, LongType),
    "local-timestamp-millis" -> TimeUnit(Millis, TimestampNTZType),
    "local-timestamp-micros" -> TimeUnit(Micros, TimestampNTZType),
    "local-timestamp-nanos"  -> TimeUnit(1, LongType),
    "time-millis"            -> TimeUnit(Millis, LongType),
    "time-micros"            -> TimeUnit(Micros, LongType)
  )

  def of(schema: Schema): Option[TimeUnit] = Option(schema.getLogicalType).flatMap((t: LogicalType) => units.get(t.getName))

  /** How a number as written becomes the number Spark holds. Avro ignores units when it resolves schemas; a time must not move because of
    * that.
    */
  def scaling(writer: Schema, reader: Schema): Scaling = of(reader) match {
    case None       => Scaling(1, 1)
    case Some(unit) =>
      val from = of(writer).getOrElse(unit).nanos
      val to   = unit.inSpark
      if (from >= to) Scaling(from / to, 1) else Scaling(1, to / from)
  }

  /** Exact, or an error when the number does not fit; parts of a microsecond are cut towards the past. */
  final case class Scaling(factor: Long, divisor: Long) {
    def apply(number: Long): Long = Math.floorDiv(Math.multiplyExact(number, factor), divisor)
  }
}
