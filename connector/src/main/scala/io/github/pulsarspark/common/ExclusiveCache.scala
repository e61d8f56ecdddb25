package io.github.pulsarspark.common

import java.util.concurrent.Executor

import scala.concurrent.duration._
import scala.jdk.CollectionConverters._
import scala.jdk.DurationConverters._

import com.github.benmanes.caffeine.cache.{Cache, Caffeine, RemovalCause, Scheduler, Ticker}

/** What one task leaves to a later one. Whoever takes a value has it alone. One that nobody takes for a while is
  * closed, the oldest ones first when there are too many.
  *
  * @param lasts
  *   how long a value is kept
  * @param most
  *   the sum of the weights that are kept
  * @param weight
  *   of a value
  * @param isUsable
  *   whether a value that was kept can still be used
  * @param close
  *   does not wait
  * @param nanos
  *   the clock
  */
private[pulsarspark] final class ExclusiveCache[K, V <: AnyRef](
    lasts: FiniteDuration,
    most: Long,
    isUsable: V => Boolean,
    close: V => Unit,
    weight: V => Int = (_: V) => 1,
    nanos: Ticker = Ticker.systemTicker()
) {
  import ExclusiveCache._

  private type Slot = (K, Int)

  private val kept: Cache[Slot, V] = Caffeine
    .newBuilder()
    .expireAfterWrite(lasts.toJava)
    .scheduler(Scheduler.systemScheduler())
    .executor((task => task.run()): Executor)
    .ticker(nanos)
    .evictionListener((_: Slot, value: V, _: RemovalCause) => close(value))
    .build[Slot, V]()

  /** A value that is kept and usable. The others with this key are closed on the way. */
  def take(key: K): Option[V] =
    slots(key).flatMap(slot => Option(kept.asMap.remove(slot))).find { value =>
      val result = isUsable(value)
      if (!result) close(value)
      result
    }

  /** Keeps a value, or closes it when enough with its key are kept. */
  def put(key: K, value: V): Unit =
    if (slots(key).exists(slot => kept.asMap.putIfAbsent(slot, value) == null)) closeOldest()
    else close(value)

  /** The cache's own bound by size would rather refuse a new key than close an old value. */
  private def closeOldest(): Unit = synchronized {
    val values = kept.policy.expireAfterWrite.get.oldest(Int.MaxValue).asScala.toSeq
    val sums   = values.reverseIterator.scanLeft(0L) { case (sum, (_, value)) => sum + weight(value) }.drop(1)
    values.reverseIterator.zip(sums).filter(_._2 > most).foreach { case ((slot, value), _) =>
      if (kept.asMap.remove(slot, value)) close(value)
    }
  }

  /** Closes the values of these keys. */
  def closeAll(of: K => Boolean): Unit =
    kept.asMap.keySet.asScala.filter(slot => of(slot._1)).foreach(slot =>
      Option(kept.asMap.remove(slot)).foreach(close)
    )

  /** Closes values that were kept long enough. */
  def cleanUp(): Unit = kept.cleanUp()

  private def slots(key: K): Iterator[Slot] = Iterator.range(0, MostOfKey).map(key -> _)
}

private object ExclusiveCache {

  /** With one key: one for each task, and seldom more tasks run at a time. */
  private val MostOfKey = 16
}
