package io.github.pulsarspark.read.stream

/** Finds topic partitions whose ledgers have moved, by the reports of a stream's tasks. */
private[stream] final class MovedLedgers {
  private var seen = Map.empty[String, Long]

  /** The topic partitions that were reported since the last call.
    *
    * @param now
    *   how often each was reported since the query started
    */
  def takeNew(now: Map[String, Long]): Iterable[String] = {
    val before = seen
    seen = now
    now.collect { case (topic, count) if !before.get(topic).contains(count) => topic }
  }
}
