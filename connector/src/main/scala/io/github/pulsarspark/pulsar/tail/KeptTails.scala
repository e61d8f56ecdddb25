package io.github.pulsarspark.pulsar.tail

import scala.concurrent.duration._

import io.github.pulsarspark.common.{BlockingParallel, ExclusiveCache}
import io.github.pulsarspark.options.ReadOptions
import io.github.pulsarspark.position.{OffsetRange, Position}
import io.github.pulsarspark.pulsar.connection.{ClientPool, ClusterCalls}
import io.github.pulsarspark.pulsar.feed.{BrokerFeeds, ContinuousFeed}

/** Tails that a task of a real-time query leaves to the next batch, which goes on at the same position, also inside an
  * entry: what arrives between the two is there already.
  */
private[pulsarspark] object KeptTails {

  /** @param stream
    *   one run of a query, all of whose tasks have the same options
    * @param position
    *   the last message read
    */
  private final case class Place(stream: String, topic: String, position: Position)

  /** Memory limit of all tails that wait for a task in one executor: their queued bytes and those that may be on their
    * way.
    */
  private val MaxBytes = 256L << 20

  /** Memory counted for a tail with an empty queue. */
  private val LeastBytes = 64L << 10

  private val kept = new ExclusiveCache[Place, TailEntrySource](
    lasts = 30.seconds,
    most = MaxBytes,
    isUsable = _.isIdle,
    close = _.close(),
    weight = tail => math.max(LeastBytes, tail.heldBytes)
  )

  /** Threads that wait for brokers. A tail waits for one response at a time. */
  private val background = new BlockingParallel("pulsar-tail", threads = 64)

  /** The tail that an earlier task left at the start of the range, or a new one. */
  def tail(range: OffsetRange, options: ReadOptions, stream: String): TailEntrySource =
    take(range, stream).getOrElse(open(range, options))

  /** The tail that an earlier task left at the start of the range. */
  def take(range: OffsetRange, stream: String): Option[TailEntrySource] =
    kept.take(Place(stream, range.topic, range.startExclusive))

  private def open(range: OffsetRange, options: ReadOptions): TailEntrySource = {
    val lease = ClientPool.acquire(options.client)
    val feed  = new ContinuousFeed(
      new BrokerFeeds(lease, range.topic, options, "tail"),
      new ClusterCalls(lease.options, lease.options.serviceUrl),
      range.topic,
      range.startExclusive.entryBefore,
      options
    )
    new TailEntrySource(feed, range, options, background.start)
  }

  /** Leaves a tail to the next task, or closes it where it cannot go on.
    *
    * @param position
    *   the last message read
    */
  def leave(stream: String, topic: String, position: Position, tail: TailEntrySource): Unit =
    if (tail.isIdle) {
      kept.closeAll(other => other.stream == stream && other.topic == topic && other.position != position)
      kept.put(Place(stream, topic, position), tail)
    } else tail.close()

  /** Closes the tails of a stream that ends, as far as they are in this JVM; others end by themselves. */
  def closeAll(stream: String): Unit = kept.closeAll(_.stream == stream)
}
