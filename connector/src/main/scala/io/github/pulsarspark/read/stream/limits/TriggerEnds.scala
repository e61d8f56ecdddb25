package io.github.pulsarspark.read.stream.limits

import scala.concurrent.duration.FiniteDuration

import io.github.pulsarspark.position.{OffsetRange, Position}
import io.github.pulsarspark.storage.ClosedLedgers
import io.github.pulsarspark.storage.segment.WholeLedger

/** Decides where the micro-batches of a stream with limits end. By the sizes of whole ledgers or by the indexes of
  * messages where that is possible, which reads little, and by counting elsewhere.
  */
private[stream] final class TriggerEnds(
    walk: OffsetRange => PartitionWalk,
    listed: (Seq[OffsetRange], Long) => Map[String, Seq[WholeLedger]],
    closed: (OffsetRange, Long) => ClosedLedgers,
    returnsAll: OffsetRange => Boolean,
    patience: FiniteDuration,
    least: Long = IndexSteps.MinRows
) extends AutoCloseable {

  private val backlog     = new BacklogWalk(walk, patience)
  private val ledgerSteps = new LedgerSteps(listed, walk, patience)
  private val indexSteps  = new IndexSteps(closed, returnsAll, patience, least)

  /** Ends of the next micro-batch in these ranges.
    *
    * @param ranges
    *   that are not empty, from what was read to the last message
    * @param partitions
    *   all that exist
    */
  def of(ranges: Seq[OffsetRange], partitions: collection.Set[String], budget: TriggerBudget): Map[String, Position] = {
    val whole    = ledgerSteps.ends(ranges, budget)
    val numbered = indexSteps.usable(ranges, budget)
    val ended    = whole.keySet ++ numbered.keySet
    val left     = ranges.filterNot(r => ended(r.topic))
    val walked   = backlog.ends(left, partitions.filterNot(ended),
      budget.without(whole.values.map(_.bytes).sum).shared(left.size, numbered.size))
    val steps = indexSteps.ends(numbered, budget.rows.getOrElse(0L) - backlog.rows)
    walked ++ whole.view.mapValues(_.end) ++ steps
  }

  override def close(): Unit = {
    ledgerSteps.stop(patience.toMillis)
    indexSteps.stop(patience.toMillis)
    backlog.close()
  }
}
