package io.github.pulsarspark.read.stream

import scala.concurrent.duration.FiniteDuration

import org.apache.spark.sql.connector.read.streaming.ReadLimit

import io.github.pulsarspark.options.ReadOptions
import io.github.pulsarspark.position.{OffsetRange, Position, PulsarOffset, RangePlanner}
import io.github.pulsarspark.read.stream.limits.{BacklogWalk, LedgerSteps, PartitionWalk, TriggerBudget}
import io.github.pulsarspark.storage.segment.WholeLedger

/** Ends micro-batches by the limits of their triggers. */
private[stream] final class StreamLimits(options: ReadOptions, session: StreamSession, origin: StreamOrigin)
    extends AutoCloseable {

  private val ends = new TriggerEnds(walk, session.storage.wholeLedgers(_, _), options.pollTimeout)
  private var last: Option[PulsarOffset] = None

  /** Limits of the options, in Spark's terms. */
  def ofOptions: ReadLimit = TriggerBudget.readLimit(options.triggerLimits)

  /** End of all micro-batches; None for a stream without end. */
  def pinned: Option[PulsarOffset] = last

  /** Ends all micro-batches there. */
  def pin(end: PulsarOffset): Unit = last = Some(end)

  /** End of the next micro-batch: what was read itself if there is none.
    *
    * @param current
    *   the end of everything
    */
  def end(read: PulsarOffset, current: PulsarOffset, limit: ReadLimit): PulsarOffset = {
    val available = last.fold(current)(StreamProgress.within(_, read, current))
    if (available.positions == read.positions) read else within(read, available, TriggerBudget.of(limit))
  }

  /** A trigger that reads what is available never waits for more: without a micro-batch its query would end. */
  private def within(read: PulsarOffset, available: PulsarOffset, limit: TriggerBudget): PulsarOffset = {
    val budget = if (last.isEmpty) limit else limit.copy(minimum = None)
    if (budget.isUnlimited) available
    else {
      val ranges = session.kept(RangePlanner.between(read, available))
      val found  = ends.of(ranges, available.positions.keySet, budget)
      val result = StreamProgress.within(PulsarOffset(available.positions ++ found), read, available)
      if (result.positions == read.positions) read else result
    }
  }

  /** Begins to count the messages of a range. */
  private def walk(range: OffsetRange): PartitionWalk =
    PartitionWalk.open(range, options, origin.start.times(range), session.broker)(session.storage.entries(range, _))

  override def close(): Unit = ends.close()
}

/** Decides where the micro-batches of a stream with limits end. By the sizes of whole ledgers where that is possible,
  * which reads little, and by counting elsewhere.
  */
private[stream] final class TriggerEnds(
    walk: OffsetRange => PartitionWalk,
    listed: (Seq[OffsetRange], Long) => Map[String, Seq[WholeLedger]],
    patience: FiniteDuration
) extends AutoCloseable {

  private val backlog     = new BacklogWalk(walk, patience)
  private val ledgerSteps = new LedgerSteps(listed, walk, patience)

  /** Ends of the next micro-batch in these ranges.
    *
    * @param ranges
    *   that are not empty, from what was read to the last message
    * @param partitions
    *   all that exist
    */
  def of(ranges: Seq[OffsetRange], partitions: collection.Set[String], budget: TriggerBudget): Map[String, Position] = {
    val whole  = ledgerSteps.ends(ranges, budget)
    val walked = backlog.ends(
      ranges.filterNot(r => whole.contains(r.topic)),
      partitions.filterNot(whole.contains),
      budget.without(whole.values.map(_.bytes).sum)
    )
    walked ++ whole.view.mapValues(_.end)
  }

  override def close(): Unit = {
    ledgerSteps.stop(patience.toMillis)
    backlog.close()
  }
}
