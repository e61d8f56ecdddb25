package io.github.pulsarspark.read.stream

import scala.concurrent.duration._
import scala.util.Try

import io.github.pulsarspark.common.BlockingParallel
import io.github.pulsarspark.errors.Occurrence
import io.github.pulsarspark.options.ReadOptions
import io.github.pulsarspark.position.OffsetRange
import io.github.pulsarspark.pulsar.topics.{TopicLosses, TopicNames}

/** The topic partitions of a stream as of the last discovery. A broker may list topics from an old cache, so a
  * partition that was read counts as deleted only if a request for itself confirms it.
  *
  * @param discover
  *   returns full names of topics, each with those of its partitions
  * @param isSelected
  *   whether the options select the topic, which those of an earlier start may have done alone
  * @param existing
  *   requests which of these partitions exist
  * @param interval
  *   the least time between two discoveries
  * @param begin
  *   begins a discovery on another thread, and returns the wait for its end
  * @param nanos
  *   the clock
  */
private[stream] final class KnownPartitions(
    discover: () => Map[String, Seq[String]],
    val isSelected: String => Boolean,
    existing: Seq[String] => Iterable[String],
    interval: FiniteDuration,
    begin: (() => Map[String, Seq[String]]) => () => Map[String, Seq[String]],
    nanos: () => Long = () => System.nanoTime()
) {
  private var topics                     = Map.empty[String, Seq[String]]
  private var topicOf                    = Map.empty[String, String]
  private var sorted                     = Seq.empty[String]
  private var unlisted                   = Set.empty[String] // that exist nevertheless
  private var discoveredAt: Option[Long] = None

  /** Makes a request for all existing partitions and returns its responses. During a discovery, it requests the
    * partitions of the previous one concurrently, so that a trigger waits for one of the two only. If the discovery
    * changes the partitions, or a response is missing, it repeats the request.
    *
    * @param read
    *   partitions that were read
    * @param request
    *   skips partitions that do not exist
    */
  def ask[A](read: Iterable[String])(request: Seq[String] => Map[String, A]): Map[String, A] =
    if (!isDue || sorted.isEmpty) {
      if (isDue) discoverAnew()
      request(current(read))
    } else {
      val now       = nanos()
      val discovery = begin(discover)
      val listed    = all
      val early     = Try(request(listed))
      keep(discovery(), now)
      val existing = current(read)
      early.toOption.filter(existing == listed && _.size == listed.size).getOrElse(request(existing))
    }

  private def isDue = discoveredAt.forall(nanos() - _ >= interval.toNanos)

  private def current(read: Iterable[String]): Seq[String] = {
    val missing = read.filterNot(topicOf.contains).toSet
    unlisted = unlisted.filter(missing)
    confirm(missing)
    all
  }

  private def all: Seq[String] = if (unlisted.isEmpty) sorted else sorted ++ unlisted

  /** Repeats the discovery if one of these partitions is unknown. */
  def find(partitions: Iterable[String]): Unit = if (partitions.exists(topic(_).isEmpty)) {
    discoverAnew()
    confirm(partitions.filterNot(topicOf.contains).toSet)
  }

  private def confirm(missing: Set[String]): Unit = {
    val unknown = (missing -- unlisted).filter(p => isSelected(TopicNames.whole(p)))
    if (unknown.nonEmpty) unlisted ++= existing(unknown.toSeq.sorted)
  }

  /** Full names of the partitions that exist now. */
  def discoverAnew(): Seq[String] = {
    val now = nanos()
    keep(discover(), now)
    sorted
  }

  private def keep(found: Map[String, Seq[String]], at: Long): Unit = {
    if (found ne topics) {
      topics = found
      topicOf = found.flatMap { case (topic, partitions) => partitions.map(_ -> topic) }
      sorted = topicOf.keys.toSeq.sorted
    }
    discoveredAt = Some(at)
  }

  /** The topic of a partition; None for a partition that did not exist. */
  def topic(partition: String): Option[String] =
    topicOf.get(partition).orElse(Option.when(unlisted(partition))(TopicNames.whole(partition)))

  /** Loss of a range whose partition does not exist. */
  def lossOf(range: OffsetRange): Occurrence = {
    val OffsetRange(partition, from, to) = range
    if (!isSelected(partition)) TopicLosses.deselected(partition, from, to.toString)
    else TopicLosses.deleted(partition, from, to.toString, Some(hasTopic(TopicNames.whole(partition))))
  }

  /** True if a partition of the topic existed. */
  def hasTopic(topic: String): Boolean =
    topics.get(topic).exists(_.nonEmpty) || unlisted.exists(TopicNames.whole(_) == topic)
}

private[stream] object KnownPartitions {

  /** @param background runs discoveries */
  def apply(options: ReadOptions, session: StreamSession, background: BlockingParallel): KnownPartitions =
    new KnownPartitions(
      () => session.discovery.topicsLeft(),
      TopicNames.includes(options.topics, _),
      session.broker.bounds(_).keys,
      options.discoveryInterval,
      background.begin
    )
}
