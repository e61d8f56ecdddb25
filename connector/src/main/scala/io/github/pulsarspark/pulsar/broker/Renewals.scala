package io.github.pulsarspark.pulsar.broker

import scala.collection.mutable
import scala.concurrent.duration._

/** Decides when the consumers of a partition are replaced by others: at once, and then after waits that double.
  *
  * @param nanos
  *   the clock, as `System.nanoTime`
  */
private[broker] final class Renewals(nanos: () => Long = () => System.nanoTime()) {
  import Renewals._

  private val last = mutable.HashMap.empty[String, Renewal]

  /** Returns the partitions whose back-off is over. Forgets all partitions that are not given, so that they are due at
    * once next time.
    */
  def due(partitions: collection.Set[String]): Set[String] = {
    val now = nanos()
    last.filterInPlace((p, _) => partitions(p))
    val result = partitions.filter(p => last.get(p).forall(r => now - r.at >= r.pause.toNanos)).toSet
    result.foreach { p =>
      last.put(p, Renewal(now, last.get(p).fold(MinPause)(r => (r.pause * 2).min(MaxPause))))
    }
    result
  }
}

private[broker] object Renewals {
  private val MinPause: FiniteDuration = 2.seconds
  private val MaxPause: FiniteDuration = 1.minute

  /** @param wait
    *   until the next one
    */
  private final case class Renewal(at: Long, pause: FiniteDuration)
}
