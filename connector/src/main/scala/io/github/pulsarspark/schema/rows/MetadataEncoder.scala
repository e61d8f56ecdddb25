package io.github.pulsarspark.schema.rows

import org.apache.spark.sql.catalyst.InternalRow

import io.github.pulsarspark.schema.WritePlan
import io.github.pulsarspark.schema.columns.{MetadataColumns, MetadataWriter, OutgoingMessage}

/** Sets the metadata columns of a row on a message; null sets nothing. Created once per task and topic, not
  * thread-safe.
  */
private[schema] final class MetadataEncoder(plan: WritePlan) {
  private val columns =
    for {
      column  <- MetadataColumns.inWrites
      ordinal <- plan.metadata.get(column.name)
      writes  <- column.writer
    } yield ordinal -> writes.writer(new MetadataWriter.Input(plan.input(ordinal).dataType,
      plan.refused(column.name, _, _)))

  private val ordinals: Array[Int]           = columns.map(_._1).toArray
  private val writers: Array[MetadataWriter] = columns.map(_._2).toArray

  def set(row: InternalRow, message: OutgoingMessage): Unit = {
    message.clear()
    var i = 0
    while (i < writers.length) {
      if (!row.isNullAt(ordinals(i))) writers(i).set(row, ordinals(i), message)
      i += 1
    }
  }
}
