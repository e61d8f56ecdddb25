package io.github.pulsarspark.write

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.metric.CustomTaskMetric
import org.apache.spark.sql.connector.write.{DataWriter, DataWriterFactory, WriterCommitMessage}
import org.apache.spark.sql.connector.write.streaming.StreamingDataWriterFactory

import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.metrics.Metrics
import io.github.pulsarspark.pulsar.PulsarConnection
import io.github.pulsarspark.pulsar.producer.TopicProducer
import io.github.pulsarspark.pulsar.topics.TopicNames
import io.github.pulsarspark.schema.WritePlan
import io.github.pulsarspark.schema.columns.MetadataColumns
import io.github.pulsarspark.schema.rows.RowEncoder

/** Creates the writer of a task; has no state. */
private[write] final case class PulsarWriterFactory(task: WriteContext) extends DataWriterFactory
    with StreamingDataWriterFactory {
  override def createWriter(partitionId: Int, taskId: Long): DataWriter[InternalRow] = new PulsarDataWriter(task)
  override def createWriter(partitionId: Int, taskId: Long, epochId: Long): DataWriter[InternalRow] =
    new PulsarDataWriter(task)
}

/** Says that everything a task sent is acknowledged. */
private[write] case object Acknowledged extends WriterCommitMessage

/** Sends the rows of one task and waits for their acknowledgement in `commit`. */
private[write] final class PulsarDataWriter(task: WriteContext) extends DataWriter[InternalRow] {

  private val connection = PulsarConnection(task.options.client)

  /** A topic's encoder and producer. */
  private final class Destination(plan: WritePlan) {
    val encoder  = new RowEncoder(plan)
    val producer = connection.producer(plan.topic.get, plan.schema, task.options, plan.metadata.keySet, task.isStream)
  }

  private val topicColumn = task.input.fieldNames.indexOf(MetadataColumns.Topic.name)

  private var opened            = Option.empty[Destination]
  private var acknowledgedTotal = 0L // of destinations that were given back

  /** The one destination when the option `topic` is set. */
  private lazy val only: Option[Destination] = {
    opened = task.plan.map(new Destination(_))
    opened
  }

  private val byRow = new Destinations[Destination](
    Destinations.Most,
    topic =>
      new Destination(Preflight.planFor(TopicNames.full(topic), task.input, task.options, connection)),
    giveBack
  )

  private def giveBack(destinations: Seq[Destination]): Unit = {
    destinations.foreach(_.producer.flush())
    acknowledgedTotal += destinations.map(_.producer.acknowledged).sum
    TopicProducer.close(destinations.map(_.producer), task.options.client.operationTimeout)
  }

  private def producers: Iterable[TopicProducer] = (opened ++ byRow.all).map(_.producer)

  override def write(row: InternalRow): Unit = {
    val to = if (only.isDefined) only.get else destinationOf(row)
    to.producer.send(to.encoder.encode(row))
  }

  private def destinationOf(row: InternalRow): Destination = {
    if (row.isNullAt(topicColumn)) throw Conditions.WriteTopicNull().exception
    byRow(row.getUTF8String(topicColumn))
  }

  override def commit(): WriterCommitMessage = {
    producers.foreach(_.flush())
    Acknowledged
  }

  /** Sent messages remain: Pulsar cannot take a message back. */
  override def abort(): Unit = ()

  private val metrics =
    Array(Metrics.messagesWritten.live(() => acknowledgedTotal + producers.map(_.acknowledged).sum))

  override def currentMetricsValues(): Array[CustomTaskMetric] = metrics

  override def close(): Unit =
    try TopicProducer.close(producers, task.options.client.operationTimeout)
    finally connection.close()
}
