package io.github.pulsarspark.read.stream

import io.github.pulsarspark.position.{PartitionBounds, PulsarOffset}
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
