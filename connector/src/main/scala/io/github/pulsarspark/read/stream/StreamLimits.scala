package io.github.pulsarspark.read.stream

import org.apache.spark.sql.connector.read.streaming.ReadLimit

import io.github.pulsarspark.options.ReadOptions
import io.github.pulsarspark.position.{OffsetRange, PulsarOffset, RangePlanner}
import io.github.pulsarspark.read.stream.limits.{PartitionWalk, TriggerBudget, TriggerEnds}

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
