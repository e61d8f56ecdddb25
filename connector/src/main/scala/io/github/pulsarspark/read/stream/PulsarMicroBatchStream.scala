package io.github.pulsarspark.read.stream

import java.util.{Map => JMap, Optional, UUID}

import scala.jdk.CollectionConverters._
import scala.jdk.OptionConverters._

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.connector.read.{InputPartition, PartitionReaderFactory}
import org.apache.spark.sql.connector.read.streaming._
import org.apache.spark.sql.types.StructType

import io.github.pulsarspark.common.BlockingParallel
import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.position.PulsarOffset
import io.github.pulsarspark.pulsar.BrokerEntries
import io.github.pulsarspark.read.stream.lag.{StreamLag, StreamMetrics}
import io.github.pulsarspark.read.stream.loss.StreamLosses
import io.github.pulsarspark.read.tails.TailsReaders
import io.github.pulsarspark.read.task.{PulsarReaderFactory, ReadContext}

/** A streaming read in micro-batches: each is a function of its two offsets and of how the stream began. Two lines of
  * steps, each of which hands a value to the next:
  *
  *   - a trigger: current ends ([[StreamEnds]]), the end by its limit ([[StreamLimits]]), the cluster by its marks
  *     ([[StreamMarks]]);
  *   - a micro-batch: ranges between two offsets ([[StreamRanges]]), tasks ([[StreamTasks]]).
  *
  * In real-time mode, tasks follow the partitions for the time of a batch in place of the second line:
  * [[RealTimeBatches]].
  *
  * It does not promise that a micro-batch holds as many messages as its limit, nor that a repeated one is read from the
  * same places.
  *
  * @param columns
  *   the table's columns as Spark knows them
  * @param checkpoint
  *   the folder of this source under the query's checkpoint
  */
private[read] class PulsarMicroBatchStream(task: ReadContext, columns: StructType, checkpoint: String)
    extends MicroBatchStream
    with SupportsTriggerAvailableNow with ReportsSourceMetrics {

  private val run        = UUID.randomUUID.toString
  private val background = new BlockingParallel("pulsar-stream", 2)
  private val losses     = new StreamLosses(task.options.failOnDataLoss, checkpoint, background)
  private val session    = new StreamSession(task, columns, checkpoint, losses.policy)
  private val marks      = new StreamMarks(session.marked, task.options.client.serviceUrl, checkpoint, background)
  private val origin     = new StreamOrigin(task.options, checkpoint, session, marks)
  private val partitions = KnownPartitions(task.options, session, background)
  private val ends       = new StreamEnds(session, origin, partitions, losses)
  private val limits     = new StreamLimits(task.options, session, origin)
  private val ranges     = new StreamRanges(session, origin, partitions, losses)
  private val tasks      = new StreamTasks(session, partitions, losses)
  private val realTime   = new RealTimeBatches(task, run, session, ends, ranges, tasks, losses, marks)
  private val lag        = new StreamLag(task.options.readCompacted, session.admin.map(_ => session.storage))

  private lazy val decodeErrors = SparkSession.active.sparkContext.longAccumulator

  private var newest: Option[PulsarOffset] = None // the end of everything at the last trigger
  private var parsed: Option[PulsarOffset] = None

  /** The name of this source in the progress of the query. */
  override def toString: String = s"Pulsar[${task.options.topics.shown}]"

  override def initialOffset(): Offset = origin.start.offset

  /** Spark requests it at every trigger. */
  override def deserializeOffset(json: String): PulsarOffset = {
    val result = (newest ++ parsed).find(_.json == json).getOrElse(
      PulsarOffset.parse(json, s"the checkpoint $checkpoint")
    )
    parsed = Some(result)
    result
  }

  private def own(offset: Offset): PulsarOffset = offset match {
    case own: PulsarOffset => own
    case other             => deserializeOffset(other.json)
  }

  override def getDefaultReadLimit: ReadLimit = limits.ofOptions

  override def latestOffset(from: Offset, limit: ReadLimit): Offset = {
    val read = own(from)
    marks.check(read)
    val current = if (realTime.isOn) realTime.ends(read) else ends.after(read, limits.pinned)
    val limited = if (realTime.isOn) current.offset else limits.end(read, current.offset, limit)
    val end     = marks.on(limited, read)
    newest = Some(if (limited eq current.offset) end else current.offset)
    session.subscription.foreach(_.acknowledge(read, if (realTime.isOn) read else end, current.bounds))
    lag.update(end, current.bounds)
    end
  }

  override def latestOffset(): Offset =
    throw Conditions.Internal(what = "latestOffset without a start was called",
      where = "PulsarMicroBatchStream").exception

  override def reportLatestOffset(): Offset = newest.orNull

  /** Pins the current ends; the trigger reads up to them. */
  override def prepareForTriggerAvailableNow(): Unit = limits.pin(ends.confirmed())

  override def planInputPartitions(from: Offset, to: Offset): Array[InputPartition] = {
    val end = own(to)
    marks.check(end)
    keepingLosses(tasks.of(ranges.between(own(from), end), newest).toArray)
  }

  /** Keeps the losses that a plan finds before Spark commits the batch: a driver that starts after that would not find
    * them any more.
    */
  private def keepingLosses[A](plan: => A): A = {
    val result = plan
    losses.keep()
    result
  }

  /** Begins the batches of real-time mode. Fails for options without a meaning there. */
  def prepareForRealTimeMode(): Unit = realTime.begin()

  /** True in real-time mode. */
  def isRealTime: Boolean = realTime.isOn

  /** The tasks of a real-time batch. */
  def planInputPartitions(from: Offset): Array[InputPartition] = {
    val start = own(from)
    marks.check(start)
    keepingLosses(realTime.plan(start).toArray)
  }

  /** The end of a real-time batch. */
  def mergeOffsets(ends: Array[PartitionOffset]): Offset = realTime.merged(ends.toSeq)

  /** Creates the readers of a real-time batch. */
  def tailsReaders: TailsReaders = realTime.readers(decodeErrors)

  override def createReaderFactory(): PartitionReaderFactory =
    PulsarReaderFactory(task.copy(decodeErrors = Some(decodeErrors), stream = Some(run)), Some(losses.totals))

  /** Rows read and ranges lost since the query started, and the backlog. Sends no request. */
  override def metrics(latestConsumed: Optional[Offset]): JMap[String, String] = {
    val backlog = latestConsumed.toScala.flatMap(end => lag.after(own(end)))
    (StreamMetrics.ofReads(losses.totals, losses.found, decodeErrors.sum) ++
      StreamMetrics.ofBacklog(backlog, losses.totals.levels, losses.totals.last.value, System.currentTimeMillis) ++
      realTime.metrics).asJava
  }

  /** The checkpoint keeps positions. The subscription, if there is one, follows in `latestOffset`. */
  override def commit(end: Offset): Unit = ()

  override def stop(): Unit =
    try
      try losses.keep()
      finally limits.close()
    finally {
      BrokerEntries.ended(run)
      background.stop(task.options.pollTimeout.toMillis)
      session.close()
    }
}
