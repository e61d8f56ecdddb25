package io.github.pulsarspark.read.stream.limits

import scala.concurrent.duration.FiniteDuration

import io.github.pulsarspark.position.{OffsetRange, Position}
import io.github.pulsarspark.storage.segment.WholeLedger

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
