package io.github.pulsarspark.read.task

import scala.collection.mutable
import scala.util.Using

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.metric.CustomTaskMetric
import org.apache.spark.sql.connector.read.{InputPartition, PartitionReader, PartitionReaderFactory}

import io.github.pulsarspark.metrics.{Metrics, ReadCounts, TaskTotals}
import io.github.pulsarspark.pulsar.PulsarConnection
import io.github.pulsarspark.pulsar.broker.BrokerApi
import io.github.pulsarspark.schema.rows.RowDecoders
import io.github.pulsarspark.storage.TaskStorage

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

  private val counts       = new ReadCounts(Option(slice))
  private val metrics      = Metrics.ofTask(counts)
  private val decodeErrors = new DecodeErrorHandler(task)
  private val decoders     = new RowDecoders(task.output, task.options.errorColumns)
  private val storage      = new TaskStorage(task.options, task.hadoop, task.stream)
  private val ahead        = mutable.ArrayDeque.empty[SliceReader]
  private var left         = partition.slices.toList
  private var unreported   = total
  private var rowsLeft     = task.limit.fold(Long.MaxValue)(_.toLong)

  private var slice: SliceReader                   = _
  private var connection: Option[PulsarConnection] = None

  override def next(): Boolean = {
    val hasRow = rowsLeft > 0 && advance()
    if (hasRow) rowsLeft -= 1 else decodeErrors.flush()
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
    val reader = new SliceReader(left.head, task, counts, decodeErrors, () => broker, decoders, storage)
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

  /** Opens the broker on demand: for a message that has a schema version unknown to this JVM, or that begins before the
    * range.
    */
  private def broker: BrokerApi = {
    val open = connection.getOrElse(PulsarConnection(task.options.client))
    connection = Some(open)
    open.broker(task.options.subscriptionPrefix, task.options.readCompacted)
  }

  private def closeSlice(): Unit = if (slice != null) {
    val closing = slice
    slice = null
    closing.close()
  }

  override def currentMetricsValues(): Array[CustomTaskMetric] = metrics

  /** Closes everything, slices first, whatever fails; then throws the first failure. */
  override def close(): Unit = {
    val all = Seq[AutoCloseable](() => closeSlice()) ++ ahead.removeAll() ++
      Seq[AutoCloseable](storage, () => report(), () => connection.foreach(_.close()), decodeErrors)
    Using.Manager(use => all.reverse.foreach(use(_))).get
  }

  private def report(): Unit = {
    unreported.foreach(_.report(counts, storage.movedTopics))
    unreported = None
  }
}

private object PulsarPartitionReader {
  private val MaxAhead   = 8
  private val SmallBytes = 1L << 20
}
