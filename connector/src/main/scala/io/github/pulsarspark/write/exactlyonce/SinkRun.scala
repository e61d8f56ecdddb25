package io.github.pulsarspark.write.exactlyonce

/** The driver's part of a stream that writes exactly once. Spark builds a new write for each micro-batch and keeps the
  * table, so the table holds this.
  */
private[pulsarspark] final class SinkRun {
  private var current = Option.empty[(SinkSettings, SinkCoordinator)]

  /** The coordinator of the run; takes over the sink at first, and after a failure.
    *
    * @param queryId
    *   of the stream, whose end is the coordinator's
    */
  private[write] def coordinator(settings: SinkSettings, queryId: String): SinkCoordinator = synchronized {
    current.filter { case (of, coordinator) => of == settings && coordinator.isUsable }.fold {
      current.foreach(_._2.close())
      current = None
      val result = SinkCoordinators.open(settings, queryId)
      current = Some(settings -> result)
      result
    }(_._2)
  }

  /** Metrics of the sink, by their names in the progress of a stream; empty for at-least-once. */
  def metrics: Map[String, String] =
    synchronized(current).fold(Map.empty[String, String])(c => SinkMetrics(c._2.now))
}
