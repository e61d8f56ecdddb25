package io.github.pulsarspark.metrics

import org.apache.spark.util.AccumulatorV2

import io.github.pulsarspark.format.Tier

/** Counts of the entries, bytes and rows that each tier delivered, for one task. As an accumulator of Spark, it sums
  * the finished tasks.
  */
private[pulsarspark] final class TierCounts extends AccumulatorV2[TierCounts, TierCounts] {
  import TierCounts._

  private val counts = new Array[Long](Tier.all.size * Measures)

  def addEntry(level: Tier, bytes: Int): Unit = {
    counts(index(level, Measure.Entries)) += 1
    counts(index(level, Measure.Bytes)) += bytes
  }

  def addRow(level: Tier): Unit = counts(index(level, Measure.Rows)) += 1

  def of(level: Tier, measure: Measure): Long = counts(index(level, measure))

  def sum(measure: Measure): Long = {
    var sum = 0L
    var at  = measure.ordinal
    while (at < counts.length) {
      sum += counts(at)
      at += Measures
    }
    sum
  }

  private def index(level: Tier, measure: Measure) = level.ordinal * Measures + measure.ordinal

  override def add(more: TierCounts): Unit = counts.indices.foreach(i => counts(i) += more.counts(i))

  override def merge(other: AccumulatorV2[TierCounts, TierCounts]): Unit = add(other.value)

  override def copy(): TierCounts = {
    val result = new TierCounts
    result.add(this)
    result
  }

  override def reset(): Unit = java.util.Arrays.fill(counts, 0L)

  override def isZero: Boolean = counts.forall(_ == 0)

  override def value: TierCounts = this
}

private object TierCounts {
  private val Measures = Measure.all.size
}
