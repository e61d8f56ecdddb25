package io.github.pulsarspark.read.stream

import java.util.{Map => JMap, Optional, UUID}

import scala.jdk.CollectionConverters._
import scala.jdk.OptionConverters._

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.connector.read.{InputPartition, PartitionReaderFactory}
import org.apache.spark.sql.connector.read.streaming._
import org.apache.spark.sql.types.StructType

import io.github.pulsarspark.errors.{Conditions, DataLossPolicy, LostRanges, Occurrence}
import io.github.pulsarspark.metrics.TaskTotals
import io.github.pulsarspark.position.{OffsetRange, Position, PruningBounds, PulsarOffset, RangePlanner, StreamStart}
import io.github.pulsarspark.pulsar.PulsarConnection
import io.github.pulsarspark.pulsar.topics.{TopicLosses, TopicNames}
import io.github.pulsarspark.read.plan.{BoundResolver, DriverSession, PlannedRange, TaskPlanner}
import io.github.pulsarspark.read.stream.lag.{StreamLag, StreamMetrics}
import io.github.pulsarspark.read.task.{PulsarReaderFactory, ReadContext}
import io.github.pulsarspark.storage.StreamTail

/** A streaming read in micro-batches. Offsets hold positions alone; a batch is a function of its two offsets and of how
  * the stream began.
  *
  * @param columns
  *   the table's columns as Spark knows them
  * @param checkpoint
  *   the folder of this source under the query's checkpoint
  */
private[read] final class PulsarMicroBatchStream(task: ReadContext, columns: StructType, checkpoint: String)
    extends MicroBatchStream
    with SupportsTriggerAvailableNow with ReportsSourceMetrics {

  private lazy val start =
    new InitialOffsetLog(checkpoint, SparkSession.active.sparkContext.hadoopConfiguration).getOrWrite(resolveStart())
  private val run    = UUID.randomUUID.toString
  private val losses = new DataLossPolicy(task.options.failOnDataLoss)
  private val idle   = new IdlePartitions
  private val moved  = new MovedLedgers

  private lazy val lossLog = new LossLog(checkpoint, SparkSession.active.sparkContext.hadoopConfiguration)

  private lazy val progress: Option[StreamSubscription] =
    session.progress.map(StreamSubscription(_, session.broker, task.options, checkpoint,
      SparkSession.active.sparkContext.hadoopConfiguration))

  private lazy val decodeErrors = SparkSession.active.sparkContext.longAccumulator

  private lazy val totals = TaskTotals.register(SparkSession.active.sparkContext)

  private val lag = new StreamLag(task.options.readCompacted, session.admin)

  private val schemas     = new ReaderSchemas((topics, known) => session.schemas(topics, columns, task.output, known))
  private val backlog     = new BacklogWalk(walk(_), task.options.pollTimeout)
  private val ledgerSteps =
    new LedgerSteps(session.segments(task.hadoop, losses).wholeLedgers(_, _), walk(_), task.options.pollTimeout)
  private val partitions =
    new KnownPartitions(() => session.discovery.topicsLeft(), TopicNames.includes(task.options.topics, _),
      session.broker.bounds(_).keys, task.options.discoveryInterval)
  private var opened: Option[DriverSession] = None
  private var newest: Option[PulsarOffset]  = None
  private var parsed: Option[PulsarOffset]  = None
  private var pinned: Option[PulsarOffset]  = None

  /** The name of this source in the progress of the query. */
  override def toString: String = s"Pulsar[${task.options.topics.shown}]"

  override def initialOffset(): Offset = start.offset

  /** Spark requests it at every trigger. */
  override def deserializeOffset(json: String): Offset = {
    val result = (newest ++ parsed).find(_.json == json).getOrElse(
      PulsarOffset.parse(json, s"the checkpoint $checkpoint")
    )
    parsed = Some(result)
    result
  }

  override def getDefaultReadLimit: ReadLimit = TriggerBudget.readLimit(task.options.triggerLimits)

  override def latestOffset(from: Offset, limit: ReadLimit): Offset = {
    val read   = pulsar(from)
    val bounds = session.broker.streamBounds(partitions.current(read.positions.keys))
    progress.foreach(_.subscribe(bounds.keySet, read))
    val behind = StreamProgress.behind(read, bounds)
    val again  = if (behind.isEmpty) Set.empty[String] else session.broker.endingBefore(behind)
    StreamProgress.losses(read, bounds, again).foreach(losses.report)
    keepLosses()
    val latest = StreamProgress.next(read, bounds, again)
    (session.broker.watch _).tupled(idle.at(read, bounds))
    newest = Some(latest)
    val end    = pinned.fold(latest)(StreamProgress.within(_, read, latest))
    val result = if (end.positions == read.positions) read else limited(read, end, TriggerBudget.of(limit))
    progress.foreach(_.acknowledge(read, result, bounds))
    lag.update(result, bounds)
    result
  }

  /** A trigger that reads what is available never waits for more: without a micro-batch its query would end. */
  private def limited(read: PulsarOffset, end: PulsarOffset, limit: TriggerBudget): PulsarOffset = {
    val budget = if (pinned.isEmpty) limit else limit.copy(minimum = None)
    if (budget.isUnlimited) end
    else {
      val ranges = kept(RangePlanner.between(read, end))
      val whole  = ledgerSteps.ends(ranges, budget)
      val rest   = budget.without(whole.values.map(_.bytes).sum)
      val walked =
        backlog.ends(ranges.filterNot(r => whole.contains(r.topic)), end.positions.keySet -- whole.keys, rest)
      val ends   = walked ++ whole.view.mapValues(_.end)
      val result = StreamProgress.within(PulsarOffset(end.positions ++ ends), read, end)
      if (result.positions == read.positions) read else result
    }
  }

  override def latestOffset(): Offset =
    throw Conditions.Internal(what = "latestOffset without a start was called",
      where = "PulsarMicroBatchStream").exception

  override def reportLatestOffset(): Offset = newest.orNull

  /** What was read and lost since the query started, and what is left to read. Requests nothing. */
  override def metrics(latestConsumed: Optional[Offset]): JMap[String, String] = {
    val backlog = latestConsumed.toScala.flatMap(end => lag.after(pulsar(end)))
    (StreamMetrics.ofReads(totals, lost, decodeErrors.sum) ++
      StreamMetrics.ofBacklog(backlog, totals.levels, totals.last.value, System.currentTimeMillis)).asJava
  }

  private def keepLosses(): Unit = lossLog.keep(losses.lost, totals.lostRanges)

  /** Found by the driver or by a task. */
  private def lost: LostRanges = losses.lost ++ totals.lostRanges

  /** Pins the current ends; the trigger reads up to them. */
  override def prepareForTriggerAvailableNow(): Unit =
    pinned = Some(PulsarOffset.of(session.broker.bounds(partitions.discoverAnew()).view.mapValues(_.last)))

  override def planInputPartitions(from: Offset, to: Offset): Array[InputPartition] = {
    val ranges = kept(RangePlanner.between(withJoining(pulsar(from), pulsar(to)), pulsar(to)))
    partitions.find(ranges.map(_.topic))
    val (gone, existing) =
      ranges.partitionMap(r => partitions.topic(r.topic).map(r -> _).toRight(r))
    gone.foreach { range =>
      losses.report(deleted(range.topic, range.startExclusive, range.endInclusive))
    }
    val ledgers = pulsar(to).positions.toSeq.flatMap { case (partition, end) =>
      partitions.topic(partition).map(_ -> end.ledgerId)
    }
    val readBy =
      schemas.of(existing, ledgers.groupMapReduce(_._1)(_._2)(math.max(_, _)))
    val planned = existing.zip(readBy).map { case ((range, _), schema) =>
      PlannedRange(range, PruningBounds(start.times(range.topic)), schema)
    }
    session.known.moved(moved.takeNew(totals.moved.value))
    session.known.retain(partitions.topic(_).isDefined)
    val tail = StreamTail(PulsarMicroBatchStream.TailEntries, newest.fold(Map.empty[String, Position])(_.positions))
    new TaskPlanner(task, session, losses).plan(planned, Some(tail)).tasks.toArray
  }

  override def createReaderFactory(): PartitionReaderFactory =
    PulsarReaderFactory(task.copy(decodeErrors = Some(decodeErrors), stream = Some(run)), Some(totals))

  /** The checkpoint keeps positions. The subscription, if there is one, follows in `latestOffset`. */
  override def commit(end: Offset): Unit = ()

  override def stop(): Unit =
    try
      try keepLosses()
      finally {
        ledgerSteps.stop(task.options.pollTimeout.toMillis)
        backlog.close()
      }
    finally {
      PulsarConnection.ended(run)
      opened.foreach(_.close())
      opened = None
    }

  private def walk(range: OffsetRange): PartitionWalk =
    PartitionWalk.open(range, task.options, start.times(range.topic), session.broker)

  private def session: DriverSession = opened.getOrElse {
    val result = DriverSession(task.options)
    opened = Some(result)
    // The next start needs these schemas, also when no message arrives before.
    if (task.options.schemaTrackingLocation.isDefined) schemas.add(result.discovery.topicsLeft().keys)
    result
  }

  private def resolveStart(): StreamStart = {
    val topics = session.discovery.topics()
    progress.filter(_ => task.options.startsAtSubscription).map(_.start(topics.values.flatten.toSeq.sorted))
      .getOrElse(new BoundResolver(task.options, session.broker).streamStart(topics))
  }

  private def kept(ranges: Seq[OffsetRange]): Seq[OffsetRange] = progress.fold(ranges)(_.kept(ranges))

  /** `from` with the partitions that join in `to`, before their first messages. */
  private def withJoining(from: PulsarOffset, to: PulsarOffset): PulsarOffset = {
    val joining = RangePlanner.joining(from, to)
    if (joining.isEmpty) from
    else {
      val bounds = session.broker.bounds(joining)
      joining.filterNot(bounds.contains).foreach(p => losses.report(deleted(p, Position.BeforeAll, to.positions(p))))
      from.copy(positions = from.positions ++ bounds.view.mapValues(_.first))
    }
  }

  private def deleted(partition: String, from: Position, to: Position): Occurrence =
    TopicLosses.deleted(partition, from, to.toString, Some(partitions.hasTopic(TopicNames.whole(partition))))

  private def pulsar(offset: Offset): PulsarOffset = offset match {
    case own: PulsarOffset => own
    case other             => pulsar(deserializeOffset(other.json))
  }
}

private object PulsarMicroBatchStream {

  /** Up to this many new entries of a partition are read from the broker, which has them in its cache. */
  private val TailEntries = 1000L
}
