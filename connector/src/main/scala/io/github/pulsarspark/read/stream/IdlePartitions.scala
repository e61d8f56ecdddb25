package io.github.pulsarspark.read.stream

import scala.concurrent.duration._

import io.github.pulsarspark.position.{PartitionBounds, Position, PulsarOffset}

/** Finds the partitions that a stream has read to their end, and those of them that stay idle for a while: only for
  * these a consumer is opened that watches. A partition without messages is idle at once, because any unload drops its
  * ledger.
  *
  * @param nanos
  *   the clock
  */
private[read] final class IdlePartitions(nanos: () => Long = () => System.nanoTime()) {
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

private[read] object IdlePartitions {
  val IdleTime: FiniteDuration = 5.seconds

  private final case class Stand(at: Position, since: Long)
}
