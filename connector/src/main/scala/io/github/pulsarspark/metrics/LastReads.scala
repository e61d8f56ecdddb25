package io.github.pulsarspark.metrics

import org.apache.spark.util.AccumulatorV2

/** As an accumulator of Spark: the last entry that tasks read of each topic partition, for its publish time. */
private[pulsarspark] final class LastReads extends AccumulatorV2[Map[String, LastRead], Map[String, LastRead]] {
  private var last = Map.empty[String, LastRead]

  override def add(more: Map[String, LastRead]): Unit = last = LastRead.later(last, more)
  override def merge(other: AccumulatorV2[Map[String, LastRead], Map[String, LastRead]]): Unit = add(other.value)
  override def reset(): Unit                                                                   = last = Map.empty
  override def isZero: Boolean                                                                 = last.isEmpty
  override def value: Map[String, LastRead]                                                    = last

  override def copy(): LastReads = {
    val result = new LastReads
    result.add(last)
    result
  }
}
