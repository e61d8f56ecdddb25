package io.github.pulsarspark.write

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.connector.write._
import org.apache.spark.sql.connector.write.streaming.{StreamingDataWriterFactory, StreamingWrite}
import org.apache.spark.sql.types.StructType

import io.github.pulsarspark.common.RunningQuery
import io.github.pulsarspark.options.ExactlyOnceOptions
import io.github.pulsarspark.options.registry.RawOptions
import io.github.pulsarspark.schema.columns.MetadataColumns
import io.github.pulsarspark.write.exactlyonce.{SinkCommit, SinkCoordinator, SinkSettings}

/** Checks writes with `deliveryGuarantee=exactly-once`: refuses columns, options and numbers of tasks that it does not
  * support.
  */
private[write] object ExactlyOnceWrites {

  def check(input: StructType, options: RawOptions): Unit = {
    Refused.find(c => input.fieldNames.contains(c.name)).foreach(column =>
      ExactlyOnceOptions.refuse(s"the rows have a column `${column.name}`", "Remove the column")
    )
    if (options.get("asyncProgressTrackingEnabled").exists(_.equalsIgnoreCase("true")))
      ExactlyOnceOptions.refuse("with asyncProgressTrackingEnabled Spark forgets which micro-batches were written",
        "Remove asyncProgressTrackingEnabled")
  }

  /** Fails for a stream in real-time mode, whose epochs last as long as its batches. */
  def checkTrigger(): Unit =
    if (RunningQuery.isRealTime)
      ExactlyOnceOptions.refuse(
        "in real-time mode readers would see the rows of a transaction only when the batch ends",
        "Remove it, or run the query in micro-batches"
      )

  /** Fails for more tasks than the record of an epoch can name, before any of them runs. */
  def checkTasks(count: Int): Unit =
    if (count > SinkSettings.MaxTasks)
      ExactlyOnceOptions.refuse(
        s"the write has $count tasks, and the record of an epoch names ${SinkSettings.MaxTasks}",
        "Write fewer partitions, by coalesce"
      )

  /** Rows of an epoch go to the same clusters. A broker with deduplication drops repeated sequence ids. */
  private val Refused = Seq(MetadataColumns.ReplicationClusters, MetadataColumns.SequenceId)

  /** The id of the stream whose `foreachBatch` runs on this thread. */
  def queryOfBatch: Option[String] = Option(SparkSession.active.sparkContext.getLocalProperty("sql.streaming.queryId"))
}

/** Streaming write with exactly-once delivery: an epoch's transactions are committed when all its tasks are done.
  *
  * @param coordinator
  *   outlives the epoch
  */
private[write] final class ExactlyOnceStreamingWrite(
    context: WriteContext,
    checked: CheckedWrite,
    coordinator: SinkCoordinator
) extends StreamingWrite {
  override def createStreamingWriterFactory(info: PhysicalWriteInfo): StreamingDataWriterFactory = {
    ExactlyOnceWrites.checkTasks(info.numPartitions)
    PulsarWriterFactory(context, Some(coordinator.task))
  }

  /** True: at most one attempt of a task reports its transaction. */
  override def useCommitCoordinator(): Boolean = true

  override def commit(epochId: Long, messages: Array[WriterCommitMessage]): Unit =
    coordinator.commit(epochId, SinkCommit.in(messages.toSeq))

  override def abort(epochId: Long, messages: Array[WriterCommitMessage]): Unit = {
    checked.forget()
    coordinator.abort(epochId)
  }
}

/** Batch write with exactly-once delivery; with `txnVersion` also when the job is run again. */
private[write] final class ExactlyOnceBatchWrite(context: WriteContext, settings: SinkSettings) extends BatchWrite {
  private lazy val coordinator = SinkCoordinator(settings)
  private val version          = context.options.exactlyOnce.flatMap(_.version).getOrElse(0L)

  override def createBatchWriterFactory(info: PhysicalWriteInfo): DataWriterFactory = {
    ExactlyOnceWrites.checkTasks(info.numPartitions)
    PulsarWriterFactory(context, Some(coordinator.task))
  }

  override def useCommitCoordinator(): Boolean = true

  override def commit(messages: Array[WriterCommitMessage]): Unit = {
    coordinator.commit(version, SinkCommit.in(messages.toSeq))
    coordinator.close()
  }

  /** Spark calls it also when `commit` fails. */
  override def abort(messages: Array[WriterCommitMessage]): Unit =
    try coordinator.abort(version)
    finally coordinator.close()
}
