package io.github.pulsarspark.metrics

import org.apache.spark.util.AccumulatorV2

import io.github.pulsarspark.errors.LostRanges

/** As an accumulator of Spark: the ranges that all tasks passed over. */
private[pulsarspark] final class LostRangesTotal extends AccumulatorV2[LostRanges, LostRanges] {
  private var sum = LostRanges.none

  override def add(more: LostRanges): Unit                               = sum ++= more
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
