package io.github.pulsarspark.read.stream

import org.apache.spark.sql.SparkSession

import io.github.pulsarspark.metrics.MovedTopics

/** What the tasks of a stream report of ledgers that were not where the driver thought. */
private[stream] final class MovedLedgers {

  /** For the tasks. */
  lazy val total: MovedTopics = {
    val result = new MovedTopics
    SparkSession.active.sparkContext.register(result)
    result
  }

  private var seen = Map.empty[String, Long]

  /** The topic partitions that were reported since the last call. */
  def takeNew(): Iterable[String] = {
    val before = seen
    seen = total.value
    seen.collect { case (topic, count) if !before.get(topic).contains(count) => topic }
  }
}
