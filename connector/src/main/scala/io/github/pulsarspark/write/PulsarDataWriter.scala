package io.github.pulsarspark.write

import java.util.concurrent.CompletableFuture

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.metric.CustomTaskMetric
import org.apache.spark.sql.connector.write.{DataWriter, DataWriterFactory, WriterCommitMessage}
import org.apache.spark.sql.connector.write.streaming.StreamingDataWriterFactory

import io.github.pulsarspark.common.BlockingParallel
import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.metrics.Metrics
import io.github.pulsarspark.pulsar.PulsarConnection
import io.github.pulsarspark.pulsar.producer.TopicProducer
import io.github.pulsarspark.pulsar.topics.TopicNames
import io.github.pulsarspark.schema.WritePlan
import io.github.pulsarspark.schema.columns.MetadataColumns
import io.github.pulsarspark.schema.rows.RowEncoder
import io.github.pulsarspark.write.exactlyonce.{SinkTask, TaskAttempt}

/** Creates the writer of a task; has no state. */
private[write] final case class PulsarWriterFactory(task: WriteContext, sink: Option[SinkTask] = None)
    extends DataWriterFactory
    with StreamingDataWriterFactory {
  override def createWriter(partitionId: Int, taskId: Long): DataWriter[InternalRow] =
    createWriter(partitionId, taskId, task.options.exactlyOnce.flatMap(_.version).getOrElse(0))

  override def createWriter(partitionId: Int, taskId: Long, epochId: Long): DataWriter[InternalRow] = {
    val connection = PulsarConnection(task.options.client)
    new PulsarDataWriter(task, connection, sink.map(new TaskAttempt(connection, _, epochId, partitionId, taskId)))
  }
}

/** Sends the rows of one task and waits for their acknowledgement in `commit`.
  *
  * @param connection
  *   closed with the writer
  * @param attempt
  *   for exactly-once
  */
private[write] final class PulsarDataWriter(
    task: WriteContext,
    connection: PulsarConnection,
    attempt: Option[TaskAttempt]
) extends DataWriter[InternalRow] {

  /** A topic's encoder and producer. */
  private final class Destination(plan: WritePlan) {
    val encoder  = new RowEncoder(plan)
    val producer =
      connection.producer(plan.topic.get, plan.schema, task.options, plan.metadata.keySet, task.isStream,
        attempt.flatMap(_.transaction))

    def send(row: InternalRow): Unit = producer.send(encoder.encode(row))
  }

  private val topicColumn = task.input.fieldNames.indexOf(MetadataColumns.Topic.name)

  private var opened            = Option.empty[Destination] // the one when the option `topic` is set
  private var acknowledgedTotal = 0L                        // of destinations that were given back
  private var bytesTotal        = 0L                        // of the same

  private lazy val opening = new BlockingParallel("pulsar-opening", PulsarDataWriter.OpeningThreads)

  private val byRow = new Destinations[Destination](Destinations.MaxOpen, start, _.send(_), giveBack)

  private def start(topic: String): CompletableFuture[Destination] = opening.start(() =>
    new Destination(
      Preflight.planFor(TopicNames.full(topic), task.input, task.declared, task.options, connection)
    )
  )

  private def giveBack(destinations: Seq[Destination]): Unit = {
    flush(destinations.map(_.producer))
    acknowledgedTotal += destinations.map(_.producer.acknowledged).sum
    bytesTotal += destinations.map(_.producer.sentBytes).sum
    TopicProducer.close(destinations.map(_.producer), task.options.client.operationTimeout)
  }

  /** Flushes producers: one wait for acknowledgements serves them all. */
  private def flush(producers: Iterable[TopicProducer]): Unit = {
    producers.foreach(_.handOver())
    producers.foreach(_.flush())
  }

  private def producers: Iterable[TopicProducer] = (opened ++ byRow.all).map(_.producer)

  private val isWritten = attempt.exists(_.isWritten)
  private var rows      = 0L

  override def write(row: InternalRow): Unit = {
    if (!isWritten) {
      if (rows == 0) begin()
      send(row)
    }
    rows += 1
  }

  /** Begins the transaction of an exactly-once write, then opens the one destination. */
  private def begin(): Unit = {
    attempt.foreach(_.begin())
    opened = task.plan.map(new Destination(_))
  }

  private def send(row: InternalRow): Unit =
    if (opened.isDefined) opened.get.send(row)
    else {
      if (row.isNullAt(topicColumn)) throw Conditions.WriteTopicNull().exception
      byRow.send(row.getUTF8String(topicColumn), row)
    }

  /** Returns the report of an exactly-once task. Other tasks report nothing: the driver only has to know that they are
    * done, and Kryo would have to know the class of a message.
    */
  override def commit(): WriterCommitMessage = {
    byRow.openAll()
    producers.foreach(_.handOver())
    attempt.foreach(_.mark(rows, bytesTotal + producers.map(_.sentBytes).sum))
    flush(producers)
    attempt.map(_.finish(rows).message).orNull
  }

  /** Sent messages remain: Pulsar cannot take a message back. A transaction is aborted by `close`, after its producers.
    */
  override def abort(): Unit = ()

  private val metrics =
    Array(Metrics.messagesWritten.live(() => acknowledgedTotal + producers.map(_.acknowledged).sum))

  override def currentMetricsValues(): Array[CustomTaskMetric] = metrics

  override def close(): Unit =
    try {
      val deadline = task.options.client.operationTimeout
      if (task.plan.isEmpty) opening.stop(deadline.toMillis)
      val (done, late) = byRow.eventually.partition(_.isDone)
      late.foreach(_.thenAccept(_.producer.close()))
      val open = opened ++ done.filterNot(_.isCompletedExceptionally).map(_.join())
      TopicProducer.close(open.map(_.producer), deadline)
    } finally
      try attempt.foreach(_.close())
      finally connection.close()
}

private object PulsarDataWriter {

  /** Limit of topics that a task opens at a time. Each waits for several responses of brokers. */
  private val OpeningThreads = 16
}
