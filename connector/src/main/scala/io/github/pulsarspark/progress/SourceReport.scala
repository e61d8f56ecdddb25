package io.github.pulsarspark.progress

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.streaming.SourceProgress

import io.github.pulsarspark.metrics.{BacklogMetric, Metrics}

/** Progress of one source of a query.
  *
  * @param metrics
  *   names and texts that the source adds
  */
private[progress] final case class SourceReport(
    description: String,
    inputRate: Double,
    processedRate: Double,
    metrics: Map[String, String]
) {

  /** True of a source of this connector. */
  def isPulsar: Boolean = metrics.contains(Metrics.dataLoss.name)

  /** Value of a metric; None if it is missing, or not known. */
  def number(metric: String): Option[Long] =
    metrics.get(metric).filter(_ != BacklogMetric.Unknown).flatMap(_.toLongOption)
}

private[progress] object SourceReport {

  def of(source: SourceProgress): SourceReport = SourceReport(
    source.description,
    source.inputRowsPerSecond,
    source.processedRowsPerSecond,
    source.metrics.asScala.toMap
  )
}
