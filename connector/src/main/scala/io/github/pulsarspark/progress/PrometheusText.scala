package io.github.pulsarspark.progress

/** Prometheus' text format. */
private[progress] object PrometheusText {

  val ContentType = "text/plain; version=0.0.4; charset=utf-8"

  /** Lines of the newest report of each query that has a Pulsar source. Of several queries with the same name, the one
    * that reported last counts.
    */
  def of(reports: Iterable[QueryReport]): String = {
    val newest  = reports.toSeq.filter(_.sources.nonEmpty).sortBy(_.time).map(r => r.label -> r).toMap
    val samples = newest.toSeq.sortBy(_._1).flatMap { case (_, report) => Sample.of(report) }.groupBy(_.metric)
    ExportedMetric.all.flatMap(metric => samples.get(metric).map(lines(metric, _))).mkString
  }

  private def lines(metric: ExportedMetric, samples: Seq[Sample]): String =
    s"# HELP ${metric.name} ${metric.help}\n# TYPE ${metric.name} ${metric.kind}\n" + samples.map { sample =>
      val labels = sample.labels.map { case (name, value) => s"""$name="${escaped(value)}"""" }.mkString("{", ",", "}")
      s"${metric.name}$labels ${number(sample.value)}\n"
    }.mkString

  private def number(value: Double): String = if (value.isWhole) value.toLong.toString else value.toString

  private def escaped(text: String): String = text.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n")
}
