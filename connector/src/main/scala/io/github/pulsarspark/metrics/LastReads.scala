package io.github.pulsarspark.metrics

/** The last entry that tasks read of each topic partition, for its publish time. */
private[pulsarspark] final class LastReads extends SumAccumulator(Map.empty[String, LastRead]) {
  override protected def fresh: LastReads = new LastReads

  override protected def plus(some: Map[String, LastRead], more: Map[String, LastRead]): Map[String, LastRead] =
    LastRead.later(some, more)
}
