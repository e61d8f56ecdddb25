package io.github.pulsarspark.pulsar.producer

import java.util.concurrent.Executor

import scala.concurrent.duration._
import scala.jdk.DurationConverters._

import com.github.benmanes.caffeine.cache.{Cache, Caffeine, RemovalCause, Scheduler, Ticker}

/** Producers that a task of a stream leaves to the tasks of the next micro-batches. Whoever takes one has it alone. One
  * that nobody takes for a while is closed, the oldest ones first when there are too many.
  *
  * @param lasts
  *   how long one is kept
  * @param most
  *   how many are kept
  * @param nanos
  *   the clock
  */
private[producer] final class KeptProducers[K](
    lasts: FiniteDuration,
    most: Int,
    nanos: Ticker = Ticker.systemTicker()
) {
  import KeptProducers._

  private type Slot = (K, Int)

  private val kept: Cache[Slot, OpenProducer] = Caffeine
    .newBuilder()
    .maximumSize(most.toLong)
    .expireAfterWrite(lasts.toJava)
    .scheduler(Scheduler.systemScheduler())
    .executor((task => task.run()): Executor)
    .ticker(nanos)
    .evictionListener { (_: Slot, producer: OpenProducer, _: RemovalCause) => producer.closeAsync(); () }
    .build[Slot, OpenProducer]()

  /** One that is kept and still connected. The others with this key are closed on the way. */
  def take(key: K): Option[OpenProducer] =
    slots(key).flatMap(slot => Option(kept.asMap.remove(slot))).find { producer =>
      if (!producer.isConnected) producer.closeAsync()
      producer.isConnected
    }

  /** Keeps a producer of which every message is acknowledged; closes it when enough with its key are kept. */
  def put(key: K, producer: OpenProducer): Unit =
    if (!slots(key).exists(slot => kept.asMap.putIfAbsent(slot, producer) == null)) {
      producer.closeAsync()
      ()
    }

  /** Closes those that were kept long enough. */
  def cleanUp(): Unit = kept.cleanUp()

  private def slots(key: K): Iterator[Slot] = Iterator.range(0, MostOfKey).map(key -> _)
}

private object KeptProducers {

  /** Of one topic with the same settings: a task each, and seldom more tasks run at a time. */
  private val MostOfKey = 16
}
