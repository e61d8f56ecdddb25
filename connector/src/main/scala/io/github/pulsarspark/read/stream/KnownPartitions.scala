package io.github.pulsarspark.read.stream

import scala.concurrent.duration._

/** The topic partitions of a stream as of the last discovery.
  *
  * @param discover
  *   returns full names of topics, each with those of its partitions
  * @param interval
  *   the least time between two discoveries
  * @param nanos
  *   the clock
  */
private[stream] final class KnownPartitions(
    discover: () => Map[String, Seq[String]],
    interval: FiniteDuration,
    nanos: () => Long = () => System.nanoTime()
) {
  private var topics                     = Map.empty[String, Seq[String]]
  private var topicOf                    = Map.empty[String, String]
  private var sorted                     = Seq.empty[String]
  private var discoveredAt: Option[Long] = None

  /** Full names of all partitions. */
  def current(): Seq[String] = {
    if (discoveredAt.forall(nanos() - _ >= interval.toNanos)) discoverAnew()
    sorted
  }

  /** The same, those that exist now. */
  def discoverAnew(): Seq[String] = {
    val now   = nanos()
    val found = discover()
    if (found ne topics) {
      topics = found
      topicOf = found.flatMap { case (topic, partitions) => partitions.map(_ -> topic) }
      sorted = topicOf.keys.toSeq.sorted
    }
    discoveredAt = Some(now)
    sorted
  }

  /** The topic of a partition; None for a partition that did not exist. */
  def topic(partition: String): Option[String] = topicOf.get(partition)

  /** Whether a partition of the topic existed. */
  def hasTopic(topic: String): Boolean = topics.get(topic).exists(_.nonEmpty)
}
