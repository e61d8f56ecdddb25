package io.github.pulsarspark.read

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.metric.CustomTaskMetric
import org.apache.spark.sql.connector.read.{InputPartition, PartitionReader, PartitionReaderFactory}

import io.github.pulsarspark.client.{Broker, BrokerEntrySource, ClientPool, ConnectedBroker, EarlierOnBroker, TopicNames}
import io.github.pulsarspark.log.{EntryDecoder, EntrySource}
import io.github.pulsarspark.metrics.{BytesRead, DataLoss, EntriesRead, IncompleteChunks, TaskMetric}
import io.github.pulsarspark.offsets.Position
import io.github.pulsarspark.schema.RowDecoder

/** Makes the reader of a task; has no state. */
private[read] final case class PulsarReaderFactory(task: ReadTask) extends PartitionReaderFactory {
  override def createReader(partition: InputPartition): PartitionReader[InternalRow] = partition match {
    case p: PulsarInputPartition => new PulsarPartitionReader(p, task)
    case other                   => throw new IllegalArgumentException(s"not a partition of this source: ${other.getClass.getName}")
  }
}

/** Reads one range: entries from a source, messages from entries, rows from messages. */
private[read] final class PulsarPartitionReader(partition: PulsarInputPartition, task: ReadTask) extends PartitionReader[InternalRow] {

  private val range = partition.range
  private val rows  = RowDecoder(
    range.topic,
    TopicNames.partitionIndex(range.topic),
    task.output,
    partition.schema,
    version => broker.schemaAt(range.topic, version)
  )
  private val decoder = new EntryDecoder(
    range.topic,
    rows.level,
    task.options.maxMessageBytes,
    ownBytes = rows.refersToBytes,
    Some(new EarlierOnBroker(range.topic, task.options, broker))
  )
  private val messages            = decoder.message
  private val source: EntrySource = new BrokerEntrySource(ClientPool.acquire(task.options.client), range, task.options)

  private var asked: Option[Broker] = None
  private var entries               = 0L
  private var bytes                 = 0L
  private var inEntry               = false

  override def next(): Boolean = {
    while (true) {
      if (inEntry && decoder.next()) return true
      inEntry = false
      if (!source.next()) return false
      open()
    }
    false
  }

  override def get(): InternalRow = rows.decode(messages)

  private def open(): Unit = {
    decoder.open(source.ledgerId, source.entryId, source.entry, firstIndexAfter, lastIndex)
    entries += 1
    bytes += decoder.entryBytes
    inEntry = partition.times.contains(messages.publishTime)
  }

  /** In the entry that the range starts within, the batch index that is read already. */
  private def firstIndexAfter: Int =
    if (isEntryOf(range.startExclusive) && !range.startExclusive.isWholeEntry) range.startExclusive.batchIndex else -1

  private def lastIndex: Int =
    if (isEntryOf(range.endInclusive) && !range.endInclusive.isWholeEntry) range.endInclusive.batchIndex else Int.MaxValue

  private def isEntryOf(p: Position): Boolean = source.entryId == p.entryId && source.ledgerId == p.ledgerId

  /** Asked only when a message has another schema version than the one the query reads with, or began in front of the range. */
  private def broker: Broker = asked.getOrElse {
    val made = new ConnectedBroker(ClientPool.acquire(task.options.client), task.options.subscriptionPrefix)
    asked = Some(made)
    made
  }

  override def currentMetricsValues(): Array[CustomTaskMetric] =
    Array(
      TaskMetric(EntriesRead.Name, entries),
      TaskMetric(BytesRead.Name, bytes),
      TaskMetric(DataLoss.Name, source.lostRanges),
      TaskMetric(IncompleteChunks.Name, decoder.incompleteMessages)
    )

  override def close(): Unit =
    try source.close()
    finally asked.foreach(_.close())
}
