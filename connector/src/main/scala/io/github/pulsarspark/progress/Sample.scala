package io.github.pulsarspark.progress

import io.github.pulsarspark.metrics.{BacklogMetric, Measure, Metrics, TierMetric}

/** One value of a metric, with its labels. */
private[progress] final case class Sample(metric: ExportedMetric, labels: Seq[(String, String)], value: Double)

private[progress] object Sample {
  import ExportedMetric._

  private type Labels = Seq[(String, String)]

  /** Samples of a query. A figure that is not known has none. */
  def of(report: QueryReport): Seq[Sample] = {
    val query = Seq("query" -> report.label)
    Seq(
      Sample(batchId, query, report.batchId.toDouble),
      Sample(duration, query, report.duration / 1000.0),
      Sample(time, query, report.time.toEpochMilli / 1000.0)
    ) ++ report.labelledSources.flatMap { case (name, source) => ofSource(query :+ ("source" -> name), source) }
  }

  private def ofSource(labels: Labels, source: SourceReport): Seq[Sample] =
    ofBacklog(backlog, labels, source, BacklogMetric.backlog) ++
      source.number(BacklogMetric.partitionsBehind).map(n => Sample(partitionsBehind, labels, n.toDouble)) ++
      source.metrics.get(BacklogMetric.worstPartition).toSeq.flatMap { partition =>
        ofBacklog(worst, labels :+ ("partition" -> partition), source, BacklogMetric.worstPartition)
      } ++
      TierMetric.all.map { metric =>
        Sample(ofMeasure(metric.measure), labels :+ ("level" -> metric.level.name), count(source, metric.name))
      } ++
      Seq(lost -> Metrics.dataLoss, decodeErrors -> Metrics.decodeErrors, reconnects -> Metrics.reconnects).map {
        case (exported, metric) => Sample(exported, labels, count(source, metric.name))
      } ++
      // Spark has NaN and infinity where it cannot divide.
      Seq(inputRate -> source.inputRate, processedRate -> source.processedRate).collect {
        case (exported, rate) if rate.isFinite => Sample(exported, labels, rate)
      } ++
      ofLatencies(labels, source)

  private def ofBacklog(exported: Seq[ExportedMetric], labels: Labels, source: SourceReport, prefix: String) = {
    import BacklogMetric.{age, bytes, entries, messages}
    for {
      (metric, (unit, divisor)) <- exported.zip(Seq(entries -> 1, messages -> 1, bytes -> 1, age -> 1000))
      number                    <- source.number(prefix + unit)
    } yield Sample(metric, labels, number.toDouble / divisor)
  }

  private def ofLatencies(labels: Labels, source: SourceReport): Seq[Sample] = {
    val times = Seq("0.5" -> "P50", "0.99" -> "P99", "1" -> "Max").flatMap { case (quantile, name) =>
      source.number(s"pulsarLatency${name}Ms").map { milliseconds =>
        Sample(latency, labels :+ ("quantile" -> quantile), milliseconds / 1000.0)
      }
    }
    if (times.size == 3) times else Nil
  }

  private def count(source: SourceReport, metric: String): Double = source.number(metric).getOrElse(0L).toDouble

  private def ofMeasure(measure: Measure): ExportedMetric = measure match {
    case Measure.Rows    => rows
    case Measure.Entries => entries
    case Measure.Bytes   => bytes
  }
}
