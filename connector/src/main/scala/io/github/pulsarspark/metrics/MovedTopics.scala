package io.github.pulsarspark.metrics

import org.apache.spark.util.AccumulatorV2

/** As an accumulator of Spark: how often tasks looked up where ledgers are, because they were not where the plan of the
  * read says, by topic partition.
  */
private[pulsarspark] final class MovedTopics extends AccumulatorV2[String, Map[String, Long]] {
  private var counts = Map.empty[String, Long]

  override def add(topic: String): Unit = counts = counts.updated(topic, counts.getOrElse(topic, 0L) + 1)

  override def merge(other: AccumulatorV2[String, Map[String, Long]]): Unit = other.value.foreach {
    case (topic, more) => counts = counts.updated(topic, counts.getOrElse(topic, 0L) + more)
  }

  override def reset(): Unit            = counts = Map.empty
  override def isZero: Boolean          = counts.isEmpty
  override def value: Map[String, Long] = counts

  override def copy(): MovedTopics = {
    val result = new MovedTopics
    result.merge(this)
    result
  }
}
