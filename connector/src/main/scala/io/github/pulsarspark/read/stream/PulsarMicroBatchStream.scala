package io.github.pulsarspark.read.stream

import java.util.{Map => JMap, Optional}

import scala.jdk.CollectionConverters._
import scala.jdk.OptionConverters._

import org.apache.spark.sql.connector.read.{InputPartition, PartitionReaderFactory}
import org.apache.spark.sql.connector.read.streaming._
import org.apache.spark.sql.types.StructType

import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.position.{PulsarOffset, RangePlanner}
import io.github.pulsarspark.read.stream.limits.{TriggerBudget, TriggerEnds}
import io.github.pulsarspark.read.task.ReadContext

/** A streaming read in micro-batches: each is a function of its two offsets and of how the stream began. Decides where
  * a micro-batch ends, by the limits of its trigger; everything else is in [[StreamCore]].
  *
  * @param columns
  *   the table's columns as Spark knows them
  * @param checkpoint
  *   the folder of this source under the query's checkpoint
  */
private[read] final class PulsarMicroBatchStream(task: ReadContext, columns: StructType, checkpoint: String)
    extends MicroBatchStream
    with SupportsTriggerAvailableNow with ReportsSourceMetrics {

  private val core                         = new StreamCore(task, columns, checkpoint)
  private val ends                         = new TriggerEnds(core.walk, core.wholeLedgers, task.options.pollTimeout)
  private var pinned: Option[PulsarOffset] = None

  /** The name of this source in the progress of the query. */
  override def toString: String = s"Pulsar[${task.options.topics.shown}]"

  override def initialOffset(): Offset = core.start.offset

  override def deserializeOffset(json: String): Offset = core.offset(json)

  override def getDefaultReadLimit: ReadLimit = TriggerBudget.readLimit(task.options.triggerLimits)

  override def latestOffset(from: Offset, limit: ReadLimit): Offset = {
    val read   = core.offset(from)
    val latest = core.latest(read, pinned)
    val end    = pinned.fold(latest.offset)(StreamProgress.within(_, read, latest.offset))
    val result = if (end.positions == read.positions) read else limited(read, end, TriggerBudget.of(limit))
    core.begin(read, result, latest)
    result
  }

  /** A trigger that reads what is available never waits for more: without a micro-batch its query would end. */
  private def limited(read: PulsarOffset, end: PulsarOffset, limit: TriggerBudget): PulsarOffset = {
    val budget = if (pinned.isEmpty) limit else limit.copy(minimum = None)
    if (budget.isUnlimited) end
    else {
      val ranges = core.kept(RangePlanner.between(read, end))
      val found  = ends.of(ranges, end.positions.keySet, budget)
      val result = StreamProgress.within(PulsarOffset(end.positions ++ found), read, end)
      if (result.positions == read.positions) read else result
    }
  }

  override def latestOffset(): Offset =
    throw Conditions.Internal(what = "latestOffset without a start was called",
      where = "PulsarMicroBatchStream").exception

  override def reportLatestOffset(): Offset = core.found.orNull

  override def metrics(latestConsumed: Optional[Offset]): JMap[String, String] =
    core.metrics(latestConsumed.toScala).asJava

  /** Pins the current ends; the trigger reads up to them. */
  override def prepareForTriggerAvailableNow(): Unit = pinned = Some(core.ends())

  override def planInputPartitions(from: Offset, to: Offset): Array[InputPartition] =
    core.tasks(core.ranges(core.offset(from), core.offset(to))).toArray

  override def createReaderFactory(): PartitionReaderFactory = core.readerFactory

  /** The checkpoint keeps positions. The subscription, if there is one, follows in `latestOffset`. */
  override def commit(end: Offset): Unit = ()

  override def stop(): Unit = core.stop(ends.close())
}
