package io.github.pulsarspark.read.stream

import java.util.concurrent.TimeUnit

import scala.collection.immutable.SortedMap

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.connector.read.streaming.PartitionOffset
import org.apache.spark.util.LongAccumulator
import org.slf4j.LoggerFactory

import io.github.pulsarspark.common.Slots
import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.metrics.LatencyCounts
import io.github.pulsarspark.position.{OffsetRange, PulsarOffset}
import io.github.pulsarspark.read.plan.PlannedRange
import io.github.pulsarspark.read.stream.lag.StreamMetrics
import io.github.pulsarspark.read.stream.loss.StreamLosses
import io.github.pulsarspark.read.tails.{PlannedTail, RealTimeOptions, TailPositions, TailTasks, TailsPartition, TailsReaders}
import io.github.pulsarspark.read.task.{PlannedSlice, ReadContext}
import io.github.pulsarspark.storage.segment.Slice

/** The batches of Spark's real-time mode. A batch has a start and a time; its tasks follow all partitions from the
  * start on, also idle ones, and report where they ended. Losses, new partitions and recreated topics are found at the
  * start of each batch.
  *
  * @param run
  *   names this run of the stream
  */
private[stream] final class RealTimeBatches(
    task: ReadContext,
    run: String,
    session: StreamSession,
    source: StreamEnds,
    ranges: StreamRanges,
    segments: StreamTasks,
    losses: StreamLosses,
    marks: StreamMarks
) {
  import RealTimeBatches._

  private lazy val latencies = {
    val result = new LatencyCounts.Total
    SparkSession.active.sparkContext.register(result)
    result
  }

  private var on                                            = false
  private var found: Option[(PulsarOffset, CurrentEnds)]    = None // the ends of the batch that begins there
  private var planned: Option[(PulsarOffset, PulsarOffset)] = None // the batch under way: its start, without and with
  // partitions that are new
  private var starvedSince: Option[Long] = None                 // end of the first of the last batches with such tasks
  private var counted                    = Map.empty[Int, Long] // before the batch
  private var batches                    = 0                    // that this run has planned

  /** True in real-time mode. */
  def isOn: Boolean = on

  /** Fails for options without a meaning. */
  def begin(): Unit = {
    RealTimeOptions.check(task.options)
    on = true
  }

  /** Current ends; the plan of the batch that begins there uses them again. */
  def ends(read: PulsarOffset): CurrentEnds = {
    val result = source.after(read, None)
    found = Some(read -> result)
    result
  }

  /** The tasks of a batch. */
  def plan(read: PulsarOffset): Seq[TailsPartition] = {
    val current = found.filter(_._1 == read).fold(ends(read))(_._2)
    found = None
    counted = latencies.value
    val isUnchanged = current.offset.positions == read.positions // `added` then belongs to an earlier batch
    val to          = if (isUnchanged) current.offset.copy(added = SortedMap.empty) else current.offset
    val all         = ranges.after(read, to)
    val starts      = SortedMap.from(all.map(r => r.range.topic -> r.range.startExclusive))
    val gone        = read.positions.filterNot { case (p, _) => starts.contains(p) }
    planned = Some(read -> PulsarOffset(
      starts,
      to.added.filter { case (p, _) => starts.contains(p) },
      to.missing ++ gone
    ))
    val schemas                   = session.taskSchemas.planned(Seq(all.map(_.schema).toSet))
    def known(range: OffsetRange) = current.bounds.get(range.topic).fold(range.startExclusive)(_.last)
    val backlogs                  = segments.backlogs(all.map(r => r.range.copy(endInclusive = known(r.range))))
    def tail(r: PlannedRange)     = PlannedTail(
      PlannedSlice(Slice.ByBroker(r.range, "the query is in real-time mode"), r.bounds, schemas(r.schema)),
      known(r.range),
      backlogs.getOrElse(r.range.topic, Nil)
    )
    val most   = TailTasks.most(task.options.realTimeTasks, Slots.of(SparkSession.active.sparkContext))
    val tasks  = TailTasks.divide(all.map(tail), most)(t => t.known > t.planned.slice.range.startExclusive)
    val turned = TailTasks.turned(tasks, batches)
    batches += 1
    turned.map(TailsPartition(_))
  }

  /** The end of the batch. */
  def merged(ends: Seq[PartitionOffset]): PulsarOffset = {
    val positions     = ends.collect { case own: TailPositions => own }
    val (read, start) = planned.getOrElse(throw Conditions.Internal(what = "offsets of a batch that was not planned",
      where = "RealTimeBatches").exception)
    check(positions)
    val end = start.copy(positions = start.positions ++ positions.flatMap(_.read))
    if (end.positions == read.positions && end.missing == read.missing) read else marks.carried(end)
  }

  /** Fails if Spark had no slot for some tasks in all batches of the last seconds: their partitions were not read, and
    * would never be. One batch is no failure, because executors start late.
    */
  private def check(ends: Seq[TailPositions]): Unit = {
    val starved = ends.filterNot(_.wasAsked)
    if (starved.isEmpty) starvedSince = None
    else {
      val problem = Conditions.RealTimeStarved(
        tasks = ends.size.toString,
        starved = starved.size.toString,
        partitions = starved.map(_.read.size).sum.toString
      )
      val now   = System.nanoTime()
      val since = starvedSince.getOrElse(now)
      if (now - since >= StarvedNanos) throw problem.exception
      starvedSince = Some(since)
      log.warn("{} of {} tasks did not begin before the end of the batch; the query fails if that goes on",
        starved.size, ends.size)
    }
  }

  def readers(decodeErrors: LongAccumulator): TailsReaders = TailsReaders(
    task.copy(decodeErrors = Some(decodeErrors), stream = Some(run)),
    run,
    losses.totals,
    latencies
  )

  /** Latencies of the last batch; none in other modes. */
  def metrics: Map[String, String] =
    if (!on) Map.empty
    else StreamMetrics.ofLatencies(latencies.value.map { case (b, n) => b -> (n - counted.getOrElse(b, 0L)) })
}

private[stream] object RealTimeBatches {
  private val log = LoggerFactory.getLogger(classOf[RealTimeBatches])

  /** Limit below the shortest batch that Spark runs by default, so that the second one with a late task fails. */
  private val StarvedNanos = TimeUnit.SECONDS.toNanos(4)
}
