package io.github.pulsarspark.metrics

import org.apache.spark.util.AccumulatorV2

import io.github.pulsarspark.errors.LostRanges

/** As an accumulator of Spark: the ranges that all tasks passed over. A task that runs again finds the same ones, which
  * count once.
  */
private[pulsarspark] final class LostRangesTotal extends AccumulatorV2[LostRanges, LostRanges] {
  private var sum = LostRanges.none

  override def add(more: LostRanges): Unit = {
    val fresh = more.newest.filterNot(sum.newest.contains)
    sum ++= LostRanges(more.count - (more.newest.size - fresh.size), fresh)
  }

  override def merge(other: AccumulatorV2[LostRanges, LostRanges]): Unit = add(other.value)
  override def reset(): Unit                                             = sum = LostRanges.none
  override def isZero: Boolean                                           = sum.count == 0
  override def value: LostRanges                                         = sum

  override def copy(): LostRangesTotal = {
    val result = new LostRangesTotal
    result.add(sum)
    result
  }
}
