package io.github.pulsarspark.read.task

import scala.collection.mutable
import scala.util.Using

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.metric.CustomTaskMetric
import org.apache.spark.sql.connector.read.{InputPartition, PartitionReader, PartitionReaderFactory}

import io.github.pulsarspark.metrics.{Metrics, TaskTotals}

/** Creates the reader of a task.
  *
  * @param total
  *   what the tasks of all micro-batches count
  */
private[read] final case class PulsarReaderFactory(
    task: ReadContext,
    total: Option[TaskTotals] = None
) extends PartitionReaderFactory {
  override def createReader(partition: InputPartition): PartitionReader[InternalRow] = partition match {
    case p: PulsarInputPartition => new PulsarPartitionReader(p, task, total)
    case other => throw new IllegalArgumentException(s"not a partition of this source: ${other.getClass.getName}")
  }
}

/** Reads the slices of a partition one after the other: entries from a source, messages from entries, rows from
  * messages.
  */
private[read] final class PulsarPartitionReader(
    partition: PulsarInputPartition,
    task: ReadContext,
    total: Option[TaskTotals]
) extends PartitionReader[InternalRow] {
  import PulsarPartitionReader._

  private val parts    = new TaskParts(task, total, Option(slice))
  private val metrics  = Metrics.ofTask(parts.counts)
  private val ahead    = mutable.ArrayDeque.empty[SliceReader]
  private var left     = partition.planned.toList
  private var rowsLeft = task.limit.fold(Long.MaxValue)(_.toLong)

  private var slice: SliceReader = _

  override def next(): Boolean = {
    val hasRow = rowsLeft > 0 && advance()
    if (hasRow) rowsLeft -= 1 else parts.decodeErrors.flush()
    hasRow
  }

  private def advance(): Boolean = {
    while (slice != null || ahead.nonEmpty || left.nonEmpty) {
      if (slice == null) {
        slice = ahead.removeHeadOption().getOrElse(take())
        prepareSome()
      }
      if (slice.next()) return true
      closeSlice()
    }
    false
  }

  private def take(): SliceReader = {
    val reader = new SliceReader(left.head, parts, parts.storage.entries(left.head.slice))
    left = left.tail
    reader
  }

  /** Prepares several small slices at a time, unless the first may be enough. */
  private def prepareSome(): Unit =
    while (
      task.limit.isEmpty && left.nonEmpty && ahead.size < MaxAhead &&
      left.head.slice.segment.exists(_.bytes <= SmallBytes)
    ) {
      val reader = take()
      ahead.append(reader)
      reader.prepare()
    }

  override def get(): InternalRow = slice.row

  private def closeSlice(): Unit = if (slice != null) {
    val closing = slice
    slice = null
    closing.close()
  }

  override def currentMetricsValues(): Array[CustomTaskMetric] = metrics

  /** Closes everything, slices first, whatever fails; then throws the first failure. */
  override def close(): Unit = {
    val all = Seq[AutoCloseable](() => closeSlice()) ++ ahead.removeAll() ++ parts.closing
    Using.Manager(use => all.reverse.foreach(use(_))).get
  }
}

private object PulsarPartitionReader {
  private val MaxAhead   = 8
  private val SmallBytes = 1L << 20
}
