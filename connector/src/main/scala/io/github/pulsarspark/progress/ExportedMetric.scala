package io.github.pulsarspark.progress

/** A metric as Prometheus knows it. The Python package exports the same ones, see `pulsar_spark.progress.prometheus`.
  */
private[progress] final case class ExportedMetric(name: String, kind: String, help: String)

private[progress] object ExportedMetric {

  /** Units in which a backlog is counted, in the order of [[backlog]] and [[worst]]. */
  val units: Seq[String] = Seq("entries", "messages", "bytes", "seconds")

  val backlog: Seq[ExportedMetric] = units.zip(Seq(
    "Stored entries left to read. Missing when not known.",
    "Estimated messages left to read. Missing when not known.",
    "Estimated stored bytes left to read. Missing when not known.",
    "Time since the message read last was published, 0 with nothing left to read. Missing when not known."
  )).map { case (unit, help) => gauge(s"backlog_$unit", help) }

  val partitionsBehind: ExportedMetric =
    gauge("partitions_behind", "Topic partitions with messages left. Missing when not known.")

  val worst: Seq[ExportedMetric] =
    units.map(unit => gauge(s"worst_partition_backlog_$unit", "The same of the partition furthest behind."))

  val rows: ExportedMetric    = counter("rows_total", "Rows read since the query started, by level.")
  val entries: ExportedMetric = counter("read_entries_total", "Stored entries read since the query started, by level.")
  val bytes: ExportedMetric   = counter("read_bytes_total", "Stored bytes read since the query started, by level.")
  val lost: ExportedMetric    = counter("lost_ranges_total", "Ranges of messages lost since the query started.")
  val decodeErrors: ExportedMetric =
    counter("decode_errors_total", "Messages that did not decode since the query started.")
  val reconnects: ExportedMetric    = counter("reconnects_total", "Reconnects of readers since the query started.")
  val inputRate: ExportedMetric     = gauge("input_rows_per_second", "Rate at which rows arrived.")
  val processedRate: ExportedMetric = gauge("processed_rows_per_second", "Rate at which rows were processed.")
  val latency: ExportedMetric       =
    gauge("latency_seconds", "Time from messages to rows in a batch of real-time mode. Missing without messages.")
  val batchId: ExportedMetric  = gauge("batch_id", "Number of the last micro-batch.")
  val duration: ExportedMetric = gauge("batch_duration_seconds", "Duration of the last trigger.")
  val time: ExportedMetric     = gauge("progress_timestamp_seconds", "When the last trigger started, since 1970.")

  /** All metrics, in the order of the text. */
  val all: Seq[ExportedMetric] = (backlog :+ partitionsBehind) ++ worst ++
    Seq(rows, entries, bytes, lost, decodeErrors, reconnects, inputRate, processedRate, latency, batchId, duration,
      time)

  private def gauge(name: String, help: String): ExportedMetric   = ExportedMetric(s"pulsar_spark_$name", "gauge", help)
  private def counter(name: String, help: String): ExportedMetric =
    ExportedMetric(s"pulsar_spark_$name", "counter", help)
}
