package io.github.pulsarspark.metrics

import org.apache.spark.util.AccumulatorV2

import io.github.pulsarspark.errors.LostRanges

/** The ranges that all tasks skipped. A task that runs again finds the same ones, which count once.
  *
  * @param found
  *   called on the driver, by Spark's scheduler, when a task found more, before its job ends
  */
private[pulsarspark] final class LostRangesTotal(@transient private val found: () => Unit = () => ())
    extends SumAccumulator(LostRanges.none) {

  override def merge(other: AccumulatorV2[LostRanges, LostRanges]): Unit = {
    val before = value.count
    super.merge(other)
    if (value.count > before) found()
  }

  override protected def fresh: LostRangesTotal = new LostRangesTotal

  override protected def plus(some: LostRanges, more: LostRanges): LostRanges = {
    val added = more.newest.filterNot(some.newest.contains)
    some ++ LostRanges(more.count - (more.newest.size - added.size), added)
  }
}
