package io.github.pulsarspark.common

import java.util.concurrent.Executor

import scala.concurrent.duration._
import scala.jdk.CollectionConverters._
import scala.jdk.DurationConverters._

import com.github.benmanes.caffeine.cache.{Cache, Caffeine, RemovalCause, Scheduler, Ticker}

/** Keeps values that one task leaves to a later one. `take` hands a value to one caller alone. A value that is not
  * taken within `lasts` is closed. When the limit is reached, the kept values stay and the new one is closed: tasks
  * come round in the same order, so the oldest value is needed next.
  *
  * @param lasts
  *   how long a value is kept
  * @param most
  *   how many are kept
  * @param isUsable
  *   whether a value that was kept can still be used
  * @param close
  *   does not wait
  * @param nanos
  *   the clock
  */
private[pulsarspark] final class ExclusiveCache[K, V <: AnyRef](
    lasts: FiniteDuration,
    most: Int,
    isUsable: V => Boolean,
    close: V => Unit,
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

  /** A value that is kept and usable, of those that are wanted. Others of these are closed on the way. */
  def take(key: K, isWanted: V => Boolean = _ => true): Option[V] = removed(key, isWanted).find { value =>
    val result = isUsable(value)
    if (!result) close(value)
    result
  }

  /** Keeps a value, or closes it when enough are kept, in all or with its key. */
  def put(key: K, value: V): Unit =
    if (!isAdmitted(key, value)) close(value)

  private def isAdmitted(key: K, value: V): Boolean = synchronized {
    kept.asMap.size < most && slots(key).exists(slot => kept.asMap.putIfAbsent(slot, value) == null)
  }

  /** Closes those values of one key. */
  def closeOf(key: K, which: V => Boolean): Unit = removed(key, which).foreach(close)

  /** Closes the values of these keys. */
  def closeAll(of: K => Boolean): Unit = takeAll(of).foreach(close)

  /** Hands over the values of these keys, usable or not. */
  def takeAll(of: K => Boolean): Seq[V] =
    kept.asMap.keySet.asScala.toSeq.filter(slot => of(slot._1)).flatMap(slot => Option(kept.asMap.remove(slot)))

  /** Closes values that were kept long enough. */
  def cleanUp(): Unit = kept.cleanUp()

  private def removed(key: K, which: V => Boolean): Iterator[V] = slots(key).flatMap(slot =>
    Option(kept.asMap.get(slot)).filter(value => which(value) && kept.asMap.remove(slot, value))
  )

  private def slots(key: K): Iterator[Slot] = Iterator.range(0, MaxOfKey).map(key -> _)
}

private object ExclusiveCache {

  /** Limit for one key: one value for each task that runs at a time. More tasks are rare. */
  private val MaxOfKey = 16
}
