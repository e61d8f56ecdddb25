package io.github.pulsarspark.progress

import java.time.Instant

import org.apache.spark.sql.streaming.StreamingQueryProgress

/** Progress of a query, with its Pulsar sources.
  *
  * @param label
  *   its name, or else its id
  * @param time
  *   start of the trigger
  * @param duration
  *   of the trigger, in milliseconds
  */
private[progress] final case class QueryReport(
    label: String,
    time: Instant,
    batchId: Long,
    duration: Long,
    sources: Seq[SourceReport]
) {

  /** Sources with names of their own: of equal ones, the later have a number. */
  def labelledSources: Seq[(String, SourceReport)] = sources.zipWithIndex.map { case (source, index) =>
    val before = sources.take(index).count(_.description == source.description)
    (if (before == 0) source.description else s"${source.description} #${before + 1}") -> source
  }
}

private[progress] object QueryReport {

  def of(progress: StreamingQueryProgress): QueryReport = QueryReport(
    Option(progress.name).filter(_.nonEmpty).getOrElse(progress.id.toString),
    Instant.parse(progress.timestamp),
    progress.batchId,
    progress.batchDuration,
    progress.sources.toSeq.map(SourceReport.of).filter(_.isPulsar)
  )
}
