package io.github.pulsarspark.read.stream

import scala.concurrent.duration._

import io.github.pulsarspark.position.{PartitionBounds, Position, PulsarOffset}
import io.github.pulsarspark.read.stream.loss.StreamLosses

/** Current ends of a stream's topics.
  *
  * @param offset
  *   the end of everything; what was read itself when there is nothing new
  * @param bounds
  *   what the partitions hold
  */
private[stream] final case class CurrentEnds(offset: PulsarOffset, bounds: Map[String, PartitionBounds])

/** The source of ends: finds where a stream's topics end, at each trigger. Discovers new partitions, reports what is
  * lost of those that were read, and watches idle ones.
  */
private[stream] final class StreamEnds(
    session: StreamSession,
    origin: StreamOrigin,
    partitions: KnownPartitions,
    losses: StreamLosses
) {
  private val idle = new IdlePartitions

  /** @param read
    *   what the stream has read, and Spark has committed
    * @param known
    *   positions up to which partitions certainly go
    */
  def after(read: PulsarOffset, known: Option[PulsarOffset]): CurrentEnds = {
    val bounds = partitions.ask(read.positions.keys)(session.broker.streamBounds)
    session.subscription.foreach(_.subscribe(bounds.keySet, read))
    val behind    = StreamProgress.behind(read, bounds)
    val shorter   = if (behind.isEmpty) Set.empty[String] else session.broker.endingBefore(behind)
    val recreated = origin.recreated(read, bounds)
    StreamProgress.losses(read, bounds, shorter, recreated, partitions.isSelected).foreach(losses.report)
    losses.keep()
    val ended             = shorter ++ recreated.keySet
    val (standing, quiet) = idle.at(read, bounds, ended)
    session.broker.watch(standing, quiet)
    CurrentEnds(StreamProgress.next(read, StreamProgress.upTo(known, bounds, ended), ended), bounds)
  }

  /** The current end of each partition, by a new list of them. */
  def confirmed(): PulsarOffset =
    PulsarOffset.of(session.broker.confirmedBounds(partitions.discoverAnew()).view.mapValues(_.last))
}

/** Finds the partitions that a stream has read to their end, and those of them that stay idle for a while: only for
  * these a consumer is opened that watches. A partition without messages is idle at once, because any unload drops its
  * ledger.
  *
  * @param nanos
  *   the clock
  */
private[stream] final class IdlePartitions(nanos: () => Long = () => System.nanoTime()) {
  import IdlePartitions._

  private var stands = Map.empty[String, Stand]

  /** The ends of partitions at which the stream stands at the time of one trigger, and which of them are idle. A broker
    * may name a last message before that although the partition goes on.
    *
    * @param ended
    *   partitions that do not have what was read of them
    */
  def at(
      read: PulsarOffset,
      bounds: Map[String, PartitionBounds],
      ended: Set[String]
  ): (Map[String, Position], Set[String]) = {
    val now = nanos()
    stands = read.positions.toMap.collect {
      case (p, at) if !ended(p) && bounds.get(p).exists(_.last <= at) =>
        p -> stands.get(p).filter(_.at == at).getOrElse(Stand(at, now))
    }
    val idle = stands.collect { case (p, s) if bounds(p).first == s.at || now - s.since >= IdleTime.toNanos => p }
    (stands.map { case (p, s) => p -> s.at }, idle.toSet)
  }
}

private[stream] object IdlePartitions {
  val IdleTime: FiniteDuration = 5.seconds

  private final case class Stand(at: Position, since: Long)
}
