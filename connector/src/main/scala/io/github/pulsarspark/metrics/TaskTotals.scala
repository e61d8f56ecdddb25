package io.github.pulsarspark.metrics

import org.apache.spark.SparkContext
import org.apache.spark.util.LongAccumulator

import io.github.pulsarspark.errors.LostRanges

/** Counts of the tasks of all micro-batches of a query, as accumulators of Spark. A task reports once, when it ends.
  *
  * @param lost
  *   the ranges that tasks skipped
  * @param last
  *   where tasks ended in each topic partition
  * @param reconnects
  *   how often readers of brokers connected again
  * @param moved
  *   topic partitions whose ledgers were not where the plan of the read had them
  */
private[pulsarspark] final case class TaskTotals(
    levels: TierCounts,
    lost: LostRangesTotal,
    last: LastReads,
    reconnects: LongAccumulator,
    moved: MovedTopics
) {

  /** Adds the counts of a task when it ends, and the topics whose ledgers it found to have moved. */
  def report(counts: ReadCounts, topics: Set[String]): Unit = {
    levels.add(counts.levels)
    if (counts.lost.count > 0) lost.add(counts.lost)
    last.add(counts.last)
    reconnects.add(counts.reconnects)
    moved.add(topics.map(_ -> 1L).toMap)
  }

  def lostRanges: LostRanges = lost.value
}

private[pulsarspark] object TaskTotals {

  /** @param lossFound
    *   see [[LostRangesTotal]]
    */
  def register(context: SparkContext, lossFound: () => Unit): TaskTotals = {
    val result = TaskTotals(new TierCounts, new LostRangesTotal(lossFound), new LastReads, new LongAccumulator,
      new MovedTopics)
    Seq(result.levels, result.lost, result.last, result.reconnects, result.moved).foreach(context.register(_))
    result
  }
}
