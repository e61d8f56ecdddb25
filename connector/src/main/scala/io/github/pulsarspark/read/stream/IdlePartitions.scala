package io.github.pulsarspark.read.stream

import scala.concurrent.duration._

import io.github.pulsarspark.position.{PartitionBounds, Position, PulsarOffset}

/** Finds the partitions that a stream has read to their end and that stay idle for a while. Only these are watched,
  * because a watch costs a consumer. A partition without messages is watched at once, because any unload drops its
  * ledger.
  *
  * @param nanos
  *   the clock
  */
private[read] final class IdlePartitions(nanos: () => Long = () => System.nanoTime()) {
  import IdlePartitions._

  private var stands = Map.empty[String, Stand]

  /** The positions to watch, at the time of one trigger. */
  def at(read: PulsarOffset, bounds: Map[String, PartitionBounds]): Map[String, Position] = {
    val now = nanos()
    stands = read.positions.toMap.collect {
      case (p, at) if bounds.get(p).exists(_.last == at) =>
        p -> stands.get(p).filter(_.at == at).getOrElse(Stand(at, now))
    }
    stands.collect { case (p, s) if bounds(p).first == s.at || now - s.since >= Patience.toNanos => p -> s.at }
  }
}

private[read] object IdlePartitions {
  val Patience: FiniteDuration = 5.seconds

  private final case class Stand(at: Position, since: Long)
}
