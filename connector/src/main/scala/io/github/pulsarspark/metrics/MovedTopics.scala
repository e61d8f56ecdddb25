package io.github.pulsarspark.metrics

/** Counts, by topic partition, how often tasks looked up ledgers that were not where the plan of the read had them. */
private[pulsarspark] final class MovedTopics extends SumAccumulator(Map.empty[String, Long]) {
  override protected def fresh: MovedTopics = new MovedTopics

  override protected def plus(some: Map[String, Long], more: Map[String, Long]): Map[String, Long] =
    more.foldLeft(some) { case (sum, (topic, n)) => sum.updated(topic, sum.getOrElse(topic, 0L) + n) }
}
