package io.github.pulsarspark.read.stream.lag

import io.github.pulsarspark.errors.LostRanges
import io.github.pulsarspark.metrics.{BacklogMetric, LastRead, LatencyCounts, Measure, Metrics, TaskTotals, TierCounts, TierMetric}

/** Metrics that a stream adds to the progress of its query, as names and texts. Pure. */
private[stream] object StreamMetrics {

  /** Metrics of the rows read and ranges lost since the query started. */
  def ofReads(totals: TaskTotals, lost: LostRanges, decodeErrors: Long): Map[String, String] = {
    val numbers = Seq(
      Metrics.dataLoss.name     -> lost.count,
      Metrics.decodeErrors.name -> decodeErrors,
      Metrics.reconnects.name   -> totals.reconnects.sum
    ) ++ TierMetric.all.map(m => m.name -> totals.levels.of(m.level, m.measure))
    val ranges = Option.when(lost.count > 0)(Metrics.lostRanges -> lost.json)
    (numbers.map { case (name, value) => name -> value.toString } ++ ranges).toMap
  }

  /** Latencies of the messages of a real-time batch, in milliseconds.
    *
    * @param counts
    *   see [[LatencyCounts]]
    */
  def ofLatencies(counts: Map[Int, Long]): Map[String, String] =
    Seq("P50" -> 0.5, "P99" -> 0.99, "Max" -> 1.0).map { case (name, part) =>
      s"pulsarLatency${name}Ms" ->
        LatencyCounts.percentile(counts, part).fold(BacklogMetric.Unknown)(_.toString)
    }.toMap

  /** Metrics of the backlog.
    *
    * @param backlog
    *   None before the first trigger
    * @param levels
    *   what was read since the query started: the next entries are taken to be like these
    * @param last
    *   where tasks ended
    * @param now
    *   in milliseconds since 1970
    */
  def ofBacklog(
      backlog: Option[Backlog],
      levels: TierCounts,
      last: Map[String, LastRead],
      now: Long
  ): Map[String, String] = {
    def age(p: PartitionBacklog) = last.get(p.partition).map(read => math.max(0L, now - read.publishTime))
    def estimate(entries: Option[Long], measure: Measure) =
      entries.flatMap(like(_, levels.sum(measure), levels.sum(Measure.Entries)))
    def figures(name: String, entries: Option[Long], age: Option[Long]) = Seq(
      name + BacklogMetric.entries  -> entries,
      name + BacklogMetric.messages -> estimate(entries, Measure.Rows),
      name + BacklogMetric.bytes    -> estimate(entries, Measure.Bytes),
      name + BacklogMetric.age      -> age
    )
    val ages  = backlog.map(_.behind.map(age)).filter(_.forall(_.nonEmpty)).map(_.flatten.maxOption.getOrElse(0L))
    val worst = backlog.flatMap(_.worst)
    val all   = (BacklogMetric.partitionsBehind -> backlog.map(_.behind.size.toLong)) +:
      (figures(BacklogMetric.backlog, backlog.flatMap(_.entries), ages) ++
        worst.toSeq.flatMap(p => figures(BacklogMetric.worstPartition, p.entries, age(p))))
    all.map { case (name, figure) => name -> figure.fold(BacklogMetric.Unknown)(_.toString) }.toMap ++
      worst.map(BacklogMetric.worstPartition -> _.partition)
  }

  /** Estimates an amount for `entries` from that of the entries read: 0 for none, else at least 1; None if nothing was
    * read.
    */
  private def like(entries: Long, amount: Long, of: Long): Option[Long] =
    if (entries == 0) Some(0L)
    else Option.when(of > 0)(math.max(1L, math.round(entries.toDouble * amount / of)))
}
