package io.github.pulsarspark.inspect.view

import java.time.Instant

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.util.{DateTimeUtils, GenericArrayData}
import org.apache.spark.unsafe.types.UTF8String

/** Makes Spark's rows of texts, numbers, times, lists of them, and options of all these. */
private[inspect] object MetadataRow {

  def apply(values: Any*): InternalRow = InternalRow.fromSeq(values.map(internal))

  private def internal(value: Any): Any = value match {
    case option: Option[_] => option.fold[Any](null)(internal)
    case text: String      => UTF8String.fromString(text)
    case time: Instant     => DateTimeUtils.instantToMicros(time)
    case list: Seq[_]      => new GenericArrayData(list.map(internal))
    case other             => other
  }
}
