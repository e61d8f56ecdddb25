package io.github.pulsarspark.read.stream

import java.time.Instant
import java.util.UUID
import java.util.concurrent.TimeUnit

import scala.concurrent.duration._
import scala.util.control.NonFatal

import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.connector.read.{InputPartition, PartitionReaderFactory}
import org.apache.spark.sql.connector.read.streaming.Offset
import org.apache.spark.sql.types.StructType
import org.slf4j.LoggerFactory

import io.github.pulsarspark.common.BlockingParallel
import io.github.pulsarspark.errors.{DataLossPolicy, Occurrence}
import io.github.pulsarspark.metrics.TaskTotals
import io.github.pulsarspark.position.{OffsetRange, PartitionBounds, Position, PulsarOffset, RangePlanner, StreamStart}
import io.github.pulsarspark.pulsar.PulsarConnection
import io.github.pulsarspark.pulsar.connection.ClusterCalls
import io.github.pulsarspark.pulsar.topics.{TopicLosses, TopicNames}
import io.github.pulsarspark.read.plan.{BoundResolver, DriverSession, PlannedRange, TaskPlanner}
import io.github.pulsarspark.read.stream.limits.PartitionWalk
import io.github.pulsarspark.read.stream.lag.{StreamLag, StreamMetrics}
import io.github.pulsarspark.read.stream.loss.{LossLog, RecreatedTopics}
import io.github.pulsarspark.read.task.{PulsarReaderFactory, ReadContext}
import io.github.pulsarspark.storage.StreamTail
import io.github.pulsarspark.storage.segment.WholeLedger

/** The driver's side of a streaming read, whatever divides it into batches: how the stream began, its session with the
  * cluster, the existing partitions, their losses, the plan of tasks, and metrics. Offsets hold positions alone.
  *
  * @param columns
  *   the table's columns as Spark knows them
  * @param checkpoint
  *   the folder of this source under the query's checkpoint
  */
private[read] final class StreamCore(task: ReadContext, columns: StructType, checkpoint: String) {
  import StreamCore._

  private val run    = UUID.randomUUID.toString
  private val losses = new DataLossPolicy(task.options.failOnDataLoss)
  private val idle   = new IdlePartitions
  private val moved  = new MovedLedgers

  private lazy val lossLog      = new LossLog(checkpoint, hadoop)
  private lazy val decodeErrors = SparkSession.active.sparkContext.longAccumulator
  private lazy val totals       = {
    val _ = lossLog // while this thread has a session
    TaskTotals.register(SparkSession.active.sparkContext, () => keepAtOnce())
  }

  private lazy val progress: Option[StreamSubscription] =
    session.progress.map(StreamSubscription(_, session.broker, task.options, checkpoint, hadoop))

  private val lag = new StreamLag(task.options.readCompacted, session.admin)

  private val schemas    = new ReaderSchemas((topics, known) => session.schemas(topics, columns, task.output, known))
  private val background = new BlockingParallel("pulsar-stream", 2)
  private val partitions =
    new KnownPartitions(
      () => session.discovery.topicsLeft(),
      isSelected,
      session.broker.bounds(_).keys,
      task.options.discoveryInterval,
      background.begin
    )
  private var opened: Option[DriverSession] = None
  private var newest: Option[PulsarOffset]  = None
  private var parsed: Option[PulsarOffset]  = None

  private lazy val startLog = new InitialOffsetLog(checkpoint, hadoop)

  /** Start of the stream at its first run. */
  lazy val start: StreamStart = startLog.getOrWrite(resolveStart())

  /** Detects recreated topics. None for a compacted view, whose ledgers may be deleted, and with a subscription, which
    * knows what is lost.
    */
  private lazy val recreated: Option[RecreatedTopics] =
    session.admin.filterNot(_ => task.options.readCompacted || progress.isDefined).map { admin =>
      val calls = new ClusterCalls(task.options.client, admin.url)
      new RecreatedTopics(start.offset, startLog.writtenAt, RecreatedTopics.created(admin, calls))
    }

  /** Result of the last call of [[latest]]. */
  def found: Option[PulsarOffset] = newest

  /** Spark requests it at every trigger. */
  def offset(json: String): PulsarOffset = {
    val result = (newest ++ parsed).find(_.json == json).getOrElse(
      PulsarOffset.parse(json, s"the checkpoint $checkpoint")
    )
    parsed = Some(result)
    result
  }

  def offset(offset: Offset): PulsarOffset = offset match {
    case own: PulsarOffset => own
    case other             => this.offset(other.json)
  }

  /** Finds the current end of the topics. Discovers new partitions, reports losses, and watches idle partitions.
    *
    * @param read
    *   what the stream has read, and Spark has committed
    * @param known
    *   positions up to which partitions certainly go
    */
  def latest(read: PulsarOffset, known: Option[PulsarOffset]): Latest = {
    val bounds = partitions.ask(read.positions.keys)(session.broker.streamBounds)
    progress.foreach(_.subscribe(bounds.keySet, read))
    val behind = StreamProgress.behind(read, bounds)
    val again  = if (behind.isEmpty) Set.empty[String] else session.broker.endingBefore(behind)
    val newer  = recreated.fold(Map.empty[String, Instant])(_.among(read, bounds))
    StreamProgress.losses(read, bounds, again, newer, isSelected).foreach(losses.report)
    keepLosses()
    val ended  = again ++ newer.keySet
    val result = StreamProgress.next(read, StreamProgress.upTo(known, bounds, ended), ended)
    (session.broker.watch _).tupled(idle.at(read, bounds, ended))
    newest = Some(result)
    Latest(result, bounds)
  }

  /** Begins a batch: acknowledges the one before it, and remembers the backlog after it for [[metrics]].
    *
    * @param read
    *   where it starts
    * @param end
    *   where it ends
    */
  def begin(read: PulsarOffset, end: PulsarOffset, latest: Latest): Unit = {
    progress.foreach(_.acknowledge(read, end, latest.bounds))
    lag.update(end, latest.bounds)
  }

  /** The current end of each partition, by a new list of them. */
  def ends(): PulsarOffset =
    PulsarOffset.of(session.broker.confirmedBounds(partitions.discoverAnew()).view.mapValues(_.last))

  /** The ranges, which start no earlier than what brokers keep of them. */
  def kept(ranges: Seq[OffsetRange]): Seq[OffsetRange] = progress.fold(ranges)(_.kept(ranges))

  /** Plans the ranges between two offsets and the schemas of their rows. Reports partitions that no longer exist. */
  def ranges(from: PulsarOffset, to: PulsarOffset): Seq[PlannedRange] = {
    val ranges = kept(RangePlanner.between(withJoining(from, to), to))
    partitions.find(ranges.map(_.topic))
    val (gone, existing) =
      ranges.partitionMap(r => partitions.topic(r.topic).map(r -> _).toRight(r))
    gone.foreach { range =>
      losses.report(lossOf(range.topic, range.startExclusive, range.endInclusive))
    }
    val ledgers = to.positions.toSeq.flatMap { case (partition, end) =>
      partitions.topic(partition).map(_ -> end.ledgerId)
    }
    val readBy =
      schemas.of(existing, ledgers.groupMapReduce(_._1)(_._2)(math.max(_, _)))
    existing.zip(readBy).map { case ((range, _), schema) => PlannedRange(range, start.bounds(range), schema) }
  }

  /** The tasks that read ranges: segments, and the tail from the broker. */
  def tasks(ranges: Seq[PlannedRange]): Seq[InputPartition] = {
    session.known.moved(moved.takeNew(totals.moved.value))
    session.known.retain(partitions.topic(_).isDefined)
    val tail = StreamTail(TailEntries, newest.fold(Map.empty[String, Position])(_.positions))
    new TaskPlanner(task, session, losses).plan(ranges, Some(tail)).tasks
  }

  def readerFactory: PartitionReaderFactory =
    PulsarReaderFactory(task.copy(decodeErrors = Some(decodeErrors), stream = Some(run)), Some(totals))

  /** Begins to count the messages of a range. */
  def walk(range: OffsetRange): PartitionWalk =
    PartitionWalk.open(range, task.options, start.times(range), session.broker)(
      session.backlog(range, _, task.hadoop)
    )

  /** Closed ledgers of ranges, as far as their list is known. */
  def wholeLedgers(ranges: Seq[OffsetRange], bytes: Long): Map[String, Seq[WholeLedger]] =
    session.segments(task.hadoop, losses).wholeLedgers(ranges, bytes)

  /** Metrics of the stream: rows read and ranges lost since the query started, and the backlog. Sends no request.
    *
    * @param consumed
    *   the end of the last batch
    */
  def metrics(consumed: Option[Offset]): Map[String, String] = {
    val backlog = consumed.flatMap(end => lag.after(offset(end)))
    StreamMetrics.ofReads(totals, losses.lost ++ totals.lostRanges, decodeErrors.sum) ++
      StreamMetrics.ofBacklog(backlog, totals.levels, totals.last.value, System.currentTimeMillis)
  }

  /** @param close
    *   ends what else uses the session
    */
  def stop(close: => Unit): Unit =
    try
      try keepLosses()
      finally close
    finally {
      PulsarConnection.ended(run)
      background.stop(task.options.pollTimeout.toMillis)
      opened.foreach(_.close())
      opened = None
    }

  /** Keeps the losses that the driver or a task found. */
  private def keepLosses(): Unit = lossLog.keep(losses.lost, totals.lostRanges)

  /** A task found a loss. It is kept before Spark commits the micro-batch: a driver that starts after that would not
    * find it any more. A slow file system does not delay Spark's scheduler for long.
    */
  private def keepAtOnce(): Unit =
    try background.start(() => keepLosses()).get(SchedulerPatience.toMillis, TimeUnit.MILLISECONDS)
    catch { case NonFatal(e) => log.warn("a loss is kept later: {}", e.toString) }

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

  /** `from` with the partitions that join in `to`, before their first messages. */
  private def withJoining(from: PulsarOffset, to: PulsarOffset): PulsarOffset = {
    val joining = RangePlanner.joining(from, to)
    if (joining.isEmpty) from
    else {
      val bounds = session.broker.bounds(joining)
      joining.filterNot(bounds.contains).foreach(p => losses.report(lossOf(p, Position.BeforeAll, to.positions(p))))
      from.copy(positions = from.positions ++ bounds.view.mapValues(_.first))
    }
  }

  private def isSelected(topic: String): Boolean = TopicNames.includes(task.options.topics, topic)

  private def lossOf(partition: String, from: Position, to: Position): Occurrence =
    if (!isSelected(partition)) TopicLosses.deselected(partition, from, to.toString)
    else TopicLosses.deleted(partition, from, to.toString, Some(partitions.hasTopic(TopicNames.whole(partition))))

  private def hadoop: Configuration = SparkSession.active.sparkContext.hadoopConfiguration
}

private[read] object StreamCore {
  private val log = LoggerFactory.getLogger(classOf[StreamCore])

  private val SchedulerPatience = 2.seconds

  /** Number of new entries of a partition up to which they are read from the broker, which has them in its cache. */
  private val TailEntries = 1000L

  /** Current end of the topics.
    *
    * @param offset
    *   the end of everything; what was read itself when there is nothing new
    * @param bounds
    *   what the partitions hold
    */
  final case class Latest(offset: PulsarOffset, bounds: Map[String, PartitionBounds])
}
