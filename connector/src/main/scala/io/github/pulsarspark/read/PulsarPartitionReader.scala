package io.github.pulsarspark.read

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.metric.CustomTaskMetric
import org.apache.spark.sql.connector.read.{InputPartition, PartitionReader, PartitionReaderFactory}

import io.github.pulsarspark.client.{Broker, ClientPool, ConnectedBroker}

/** Makes the reader of a task; has no state. */
private[read] final case class PulsarReaderFactory(task: ReadTask) extends PartitionReaderFactory {
  override def createReader(partition: InputPartition): PartitionReader[InternalRow] = partition match {
    case p: PulsarInputPartition => new PulsarPartitionReader(p, task)
    case other                   => throw new IllegalArgumentException(s"not a partition of this source: ${other.getClass.getName}")
  }
}

/** Reads the slices of a partition in turn: entries from a source, messages from entries, rows from messages. */
private[read] final class PulsarPartitionReader(partition: PulsarInputPartition, task: ReadTask) extends PartitionReader[InternalRow] {

  private val counts                = new ReadCounts
  private var left                  = partition.slices.toList
  private var slice: SliceReader    = _
  private var asked: Option[Broker] = None

  override def next(): Boolean = {
    while (slice != null || left.nonEmpty) {
      if (slice == null) {
        slice = new SliceReader(left.head, task, counts, () => broker)
        left = left.tail
      }
      if (slice.next()) return true
      closeSlice()
    }
    false
  }

  override def get(): InternalRow = slice.row

  /** Asked only when a message has another schema version than the one the query reads with, or began in front of the range. */
  private def broker: Broker = asked.getOrElse {
    val made = new ConnectedBroker(ClientPool.acquire(task.options.client), task.options.subscriptionPrefix)
    asked = Some(made)
    made
  }

  private def closeSlice(): Unit = if (slice != null) {
    val closing = slice
    slice = null
    closing.close()
  }

  override def currentMetricsValues(): Array[CustomTaskMetric] = counts.values(Option(slice))

  override def close(): Unit =
    try closeSlice()
    finally asked.foreach(_.close())
}
