package io.github.pulsarspark.metrics

import java.util.function.ToLongFunction

import org.apache.spark.sql.connector.metric.{CustomMetric, CustomTaskMetric}

/** A number that Spark shows for a read or write. Spark makes it by the name of its class, without arguments, so each
  * is a class of its own: see [[Metrics]].
  */
private[pulsarspark] abstract class Metric(
    override val name: String,
    override val description: String,
    aggregation: Aggregation = Aggregation.Sum
) extends CustomMetric {

  override def aggregateTaskMetrics(ofTasks: Array[Long]): String = aggregation(ofTasks).toString

  /** Value of a running task, for each request of Spark: one object for the whole task, because Spark requests it every
    * hundred rows.
    */
  def live(now: () => Long): CustomTaskMetric = new LiveMetric(name, now)
}

/** Combines the values of tasks into one. */
private[metrics] sealed abstract class Aggregation { def apply(ofTasks: Array[Long]): Long }

private[metrics] object Aggregation {
  case object Sum extends Aggregation { override def apply(ofTasks: Array[Long]): Long = ofTasks.sum }
  case object Max extends Aggregation {
    override def apply(ofTasks: Array[Long]): Long = ofTasks.maxOption.getOrElse(0)
  }
}

/** A metric that the tasks of a read count.
  *
  * @param count
  *   not a function of Scala, which would make an object of each number
  */
private[pulsarspark] abstract class ReadMetric(
    name: String,
    description: String,
    aggregation: Aggregation = Aggregation.Sum
)(count: ToLongFunction[ReadCounts])
    extends Metric(name, description, aggregation) {
  def of(counts: ReadCounts): CustomTaskMetric = live(() => count.applyAsLong(counts))
}

/** A metric that is known when a read is planned. */
private[pulsarspark] abstract class PlanMetric(name: String, description: String)(count: PlanCounts => Long)
    extends Metric(name, description) {
  def of(plan: PlanCounts): CustomTaskMetric = FixedMetric(name, count(plan))
}

private final class LiveMetric(override val name: String, now: () => Long) extends CustomTaskMetric {
  override def value: Long = now()
}

private final case class FixedMetric(name: String, value: Long) extends CustomTaskMetric
