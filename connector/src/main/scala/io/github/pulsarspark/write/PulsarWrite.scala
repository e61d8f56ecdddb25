package io.github.pulsarspark.write

import org.apache.spark.sql.connector.metric.CustomMetric
import org.apache.spark.sql.connector.write._
import org.apache.spark.sql.connector.write.streaming.{StreamingDataWriterFactory, StreamingWrite}
import org.apache.spark.sql.types.StructType

import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.metrics.Metrics
import io.github.pulsarspark.options.{SessionOptions, WriteOptions}
import io.github.pulsarspark.options.registry.{RawOptions, Scope}
import io.github.pulsarspark.schema.columns.RowColumns
import io.github.pulsarspark.write.exactlyonce.{SinkRun, SinkSettings}

/** Checks a write before any task: options, columns, the topic and its schema.
  *
  * @param rows
  *   columns of the rows
  * @param table
  *   columns of the table; None for a write that is not into a table
  * @param checked
  *   what was checked for an earlier micro-batch
  * @param queryId
  *   of a stream, from its checkpoint
  * @param run
  *   the driver's part of an exactly-once stream
  * @param producerPrefix
  *   start of the names of all producers of a batch; None = brokers name them
  */
private[pulsarspark] final class PulsarWriteBuilder(
    options: RawOptions,
    rows: StructType,
    table: Option[TableColumns],
    checked: CheckedWrite,
    queryId: String,
    run: SinkRun,
    producerPrefix: Option[String] = None
) extends WriteBuilder
    with AppendsUpdates
    with SupportsTruncate {
  override def build(): Write = new PulsarWrite(options, rows, table, checked, queryId, run, producerPrefix)

  /** Refuses with a text of our own: Spark requests it in save mode `overwrite` and output mode `complete`. */
  override def truncate(): WriteBuilder = throw Conditions.WriteMode().exception
}

/** A write whose options and columns fit its topic. */
private[write] final class PulsarWrite(
    options: RawOptions,
    rows: StructType,
    table: Option[TableColumns],
    checked: CheckedWrite,
    queryId: String,
    run: SinkRun,
    producerPrefix: Option[String]
) extends Write {

  private def declared = table.flatMap(_.declared)

  private def own = RowColumns(rows, SessionOptions.isCaseSensitive)

  override def toBatch: BatchWrite = {
    val typed = WriteOptions(options.check(Scope.BatchWrite)).copy(producerPrefix = producerPrefix)
    val input = table.fold(own)(_.ofBatch(rows))
    typed.exactlyOnce.foreach(_ => ExactlyOnceWrites.check(input, options))
    NamedIdWrites.check(input, typed, isRepeated = ExactlyOnceWrites.queryOfBatch.isDefined)
    val settings = // before requests
      typed.exactlyOnce.map(SinkSettings.ofBatch(typed, _, ExactlyOnceWrites.queryOfBatch))
    val context = WriteContext(input, typed, Preflight(input, declared, typed), isStream = false, declared)
    settings.fold[BatchWrite](new PulsarBatchWrite(context))(new ExactlyOnceBatchWrite(context, _))
  }

  override def toStreaming: StreamingWrite = {
    val typed = WriteOptions(options.check(Scope.StreamWrite))
    val input = table.fold(own)(_.ofStream(rows))
    typed.exactlyOnce.foreach { _ =>
      ExactlyOnceWrites.check(input, options)
      ExactlyOnceWrites.checkTrigger()
    }
    NamedIdWrites.check(input, typed, isRepeated = true)
    val settings = typed.exactlyOnce.map(SinkSettings.ofStream(typed, _, queryId))
    val plan     = checked.plan(input, typed)(Preflight(input, declared, typed))
    val context  = WriteContext(input, typed, plan, isStream = true, declared)
    settings.fold[StreamingWrite](new PulsarStreamingWrite(context, checked)) { sink =>
      new ExactlyOnceStreamingWrite(context, checked, run.coordinator(sink, queryId))
    }
  }

  override def supportedCustomMetrics(): Array[CustomMetric] = Metrics.ofWrites

  override def description(): String = s"PulsarWrite topic=${options.get("topic").getOrElse("by column __topic")}"
}

/** Batch write with at-least-once delivery. A task ends when all its messages are acknowledged, so a commit does
  * nothing. Messages of a failed task remain.
  */
private[write] final class PulsarBatchWrite(task: WriteContext) extends BatchWrite {
  override def createBatchWriterFactory(info: PhysicalWriteInfo): DataWriterFactory = {
    NamedIdWrites.checkTasks(task, info)
    PulsarWriterFactory(task)
  }
  override def useCommitCoordinator(): Boolean                    = false
  override def commit(messages: Array[WriterCommitMessage]): Unit = ()
  override def abort(messages: Array[WriterCommitMessage]): Unit  = ()
}

/** See [[PulsarBatchWrite]]; an epoch that is run again sends its messages again. */
private[write] final class PulsarStreamingWrite(task: WriteContext, checked: CheckedWrite) extends StreamingWrite {
  override def createStreamingWriterFactory(info: PhysicalWriteInfo): StreamingDataWriterFactory = {
    NamedIdWrites.checkTasks(task, info)
    PulsarWriterFactory(task)
  }
  override def useCommitCoordinator(): Boolean                                   = false
  override def commit(epochId: Long, messages: Array[WriterCommitMessage]): Unit = ()
  override def abort(epochId: Long, messages: Array[WriterCommitMessage]): Unit  = checked.forget()
}
