package io.github.pulsarspark.functions

import java.time.{Duration, Instant, LocalDate, LocalDateTime, ZoneOffset}
import java.time.temporal.ChronoUnit.MICROS
import java.util.{LinkedHashMap => JLinkedHashMap}

import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters
import org.apache.spark.sql.catalyst.util.ArrayData
import org.apache.spark.sql.types._

/** Converts Catalyst values to the external types that Spark expects from user-defined functions. Strings and decimals
  * may keep Spark's internal classes. Times become classes of `java.time`, which Spark accepts with any setting, and
  * which have no other calendar and no time zone.
  */
private[functions] object ExternalValues {

  /** Takes out one value. */
  private type Take = (SpecializedGetters, Int) => Any

  /** The values of a row, which may be written again afterwards. */
  def ofRow(columns: StructType): SpecializedGetters => Row = {
    val takes = columns.map(c => orNull(take(c.dataType))).toArray
    row => Row.fromSeq(takes.indices.map(i => takes(i)(row, i)))
  }

  private def orNull(take: Take): Take = (from, i) => if (from.isNullAt(i)) null else take(from, i)

  private def take(dataType: DataType): Take = dataType match {
    case struct: StructType =>
      val values = ofRow(struct)
      (from, i) => values(from.getStruct(i, struct.size))
    case ArrayType(item, _) =>
      val items = ofArray(item)
      (from, i) => items(from.getArray(i))
    case MapType(key, value, _) => ofMap(ofArray(key), ofArray(value))
    case DateType               => (from, i) => LocalDate.ofEpochDay(from.getInt(i).toLong)
    case TimestampType          => (from, i) => instant(from.getLong(i))
    case TimestampNTZType       => (from, i) => LocalDateTime.ofInstant(instant(from.getLong(i)), ZoneOffset.UTC)
    case _: DayTimeIntervalType => (from, i) => Duration.of(from.getLong(i), MICROS)
    case other                  => (from, i) => from.get(i, other)
  }

  private def ofArray(item: DataType): ArrayData => Seq[Any] = {
    val one = orNull(take(item))
    array => (0 until array.numElements()).map(one(array, _))
  }

  private def ofMap(keys: ArrayData => Seq[Any], values: ArrayData => Seq[Any]): Take = (from, i) => {
    val map    = from.getMap(i)
    val result = new JLinkedHashMap[Any, Any]
    keys(map.keyArray()).lazyZip(values(map.valueArray())).foreach(result.put(_, _))
    result
  }

  private def instant(micros: Long) = Instant.EPOCH.plus(micros, MICROS)
}
