package io.github.pulsarspark.metrics

/** Counts of the driver's planning of a read. */
private[pulsarspark] trait PlanCounts {

  /** Topic partitions that the filters exclude. */
  def partitionsSkipped: Long

  /** Ledgers that the filters exclude, in the other partitions. */
  def ledgersSkipped: Long
}
