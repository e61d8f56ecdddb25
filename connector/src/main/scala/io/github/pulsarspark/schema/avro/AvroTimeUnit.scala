package io.github.pulsarspark.schema.avro

import org.apache.avro.{LogicalType, Schema}
import org.apache.spark.sql.types.{DataType, LongType, TimestampNTZType, TimestampType}

/** Unit of the number of a time in an Avro schema.
  *
  * @param nanos
  *   nanoseconds in one unit
  */
private[schema] final case class AvroTimeUnit(nanos: Long, sparkType: DataType) {

  def isMillis: Boolean = nanos == AvroTimeUnit.Millis

  /** Unit of the number in Spark: microseconds, except where the number is shown as it is. */
  private def inSpark: Long = if (sparkType == LongType) nanos else AvroTimeUnit.Micros
}

private[schema] object AvroTimeUnit {
  private val Millis = 1000000L
  private val Micros = 1000L

  private val units = Map(
    "timestamp-millis"       -> AvroTimeUnit(Millis, TimestampType),
    "timestamp-micros"       -> AvroTimeUnit(Micros, TimestampType),
    "timestamp-nanos"        -> AvroTimeUnit(1, LongType),
    "local-timestamp-millis" -> AvroTimeUnit(Millis, TimestampNTZType),
    "local-timestamp-micros" -> AvroTimeUnit(Micros, TimestampNTZType),
    "local-timestamp-nanos"  -> AvroTimeUnit(1, LongType),
    "time-millis"            -> AvroTimeUnit(Millis, LongType),
    "time-micros"            -> AvroTimeUnit(Micros, LongType)
  )

  def of(schema: Schema): Option[AvroTimeUnit] = Option(schema.getLogicalType).flatMap((t: LogicalType) =>
    units.get(t.getName)
  )

  /** Factor from a written number to the number in Spark. Avro ignores units when it resolves schemas, but a time must
    * not change.
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
