package io.github.pulsarspark.write.exactlyonce

/** The names of a sink's numbers in the progress of a stream. */
private[exactlyonce] object SinkMetrics {
  def apply(totals: SinkTotals): Map[String, Long] = Map(
    "pulsarSinkRows"         -> totals.rows,
    "pulsarSinkBytes"        -> totals.bytes,
    "pulsarSinkCommitted"    -> totals.committed,
    "pulsarSinkAborted"      -> totals.aborted,
    "pulsarSinkResolved"     -> totals.resolved,
    "pulsarSinkOpen"         -> totals.open,
    "pulsarSinkOldestOpenMs" -> totals.oldestOpen
  )
}
