package io.github.pulsarspark.write.exactlyonce

/** Counts of a sink since its driver took it over.
  *
  * @param committed
  *   transactions
  * @param resolved
  *   transactions whose end was found out by their markers
  * @param skipped
  *   rows of epochs that the sink had before
  * @param open
  *   transactions now
  * @param oldestOpen
  *   milliseconds since the driver knows it
  */
private[write] final case class SinkTotals(
    rows: Long = 0,
    bytes: Long = 0,
    committed: Long = 0,
    aborted: Long = 0,
    resolved: Long = 0,
    skipped: Long = 0,
    open: Long = 0,
    oldestOpen: Long = 0
) {
  def committed(all: Seq[SinkTransaction]): SinkTotals =
    copy(rows + all.map(_.rows).sum, bytes + all.map(_.bytes).sum, committed + all.size)
}

/** The names of a sink's numbers in the progress of a stream. */
private[exactlyonce] object SinkMetrics {
  def apply(totals: SinkTotals): Map[String, String] = Map(
    "pulsarSinkRows"         -> totals.rows,
    "pulsarSinkBytes"        -> totals.bytes,
    "pulsarSinkCommitted"    -> totals.committed,
    "pulsarSinkAborted"      -> totals.aborted,
    "pulsarSinkResolved"     -> totals.resolved,
    "pulsarSinkSkipped"      -> totals.skipped,
    "pulsarSinkOpen"         -> totals.open,
    "pulsarSinkOldestOpenMs" -> totals.oldestOpen
  ).map { case (name, value) => name -> value.toString }
}
