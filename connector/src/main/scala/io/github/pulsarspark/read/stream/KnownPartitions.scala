package io.github.pulsarspark.read.stream

import scala.concurrent.duration._

import io.github.pulsarspark.pulsar.topics.TopicNames

/** The topic partitions of a stream as of the last discovery. A broker may list topics from an old cache, so a
  * partition that was read is gone only when it does not exist by itself either.
  *
  * @param discover
  *   returns full names of topics, each with those of its partitions
  * @param isSelected
  *   whether the options select the topic, which those of an earlier start may have done alone
  * @param existing
  *   requests which of these partitions exist
  * @param interval
  *   the least time between two discoveries
  * @param nanos
  *   the clock
  */
private[stream] final class KnownPartitions(
    discover: () => Map[String, Seq[String]],
    isSelected: String => Boolean,
    existing: Seq[String] => Iterable[String],
    interval: FiniteDuration,
    nanos: () => Long = () => System.nanoTime()
) {
  private var topics                     = Map.empty[String, Seq[String]]
  private var topicOf                    = Map.empty[String, String]
  private var sorted                     = Seq.empty[String]
  private var unlisted                   = Set.empty[String] // that exist nevertheless
  private var discoveredAt: Option[Long] = None

  /** Full names of all partitions.
    *
    * @param read
    *   those that were read
    */
  def current(read: Iterable[String]): Seq[String] = {
    if (discoveredAt.forall(nanos() - _ >= interval.toNanos)) discoverAnew()
    val missing = read.filterNot(topicOf.contains).toSet
    unlisted = unlisted.filter(missing)
    confirm(missing)
    if (unlisted.isEmpty) sorted else sorted ++ unlisted
  }

  /** Discovers anew when one of these partitions is not known. */
  def find(partitions: Iterable[String]): Unit = if (partitions.exists(topic(_).isEmpty)) {
    discoverAnew()
    confirm(partitions.filterNot(topicOf.contains).toSet)
  }

  private def confirm(missing: Set[String]): Unit = {
    val unknown = (missing -- unlisted).filter(p => isSelected(TopicNames.whole(p)))
    if (unknown.nonEmpty) unlisted ++= existing(unknown.toSeq.sorted)
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
  def topic(partition: String): Option[String] =
    topicOf.get(partition).orElse(Option.when(unlisted(partition))(TopicNames.whole(partition)))

  /** Whether a partition of the topic existed. */
  def hasTopic(topic: String): Boolean =
    topics.get(topic).exists(_.nonEmpty) || unlisted.exists(TopicNames.whole(_) == topic)
}
