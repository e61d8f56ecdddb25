package io.github.pulsarspark.pulsar.tail

import scala.concurrent.duration._

import io.github.pulsarspark.common.{BlockingParallel, ExclusiveCache}
import io.github.pulsarspark.options.ReadOptions
import io.github.pulsarspark.position.{OffsetRange, Position}
import io.github.pulsarspark.pulsar.connection.{ClientPool, ClusterCalls}
import io.github.pulsarspark.pulsar.feed.{BrokerFeeds, ContinuousFeed, WaitingRoom}

/** Tails that a task of a real-time query leaves to the next batch, which goes on at the same position, also inside an
  * entry: what arrives between the two is there already.
  */
private[pulsarspark] object KeptTails {

  /** @param stream
    *   one run of a query, all of whose tasks have the same options
    */
  private final case class Topic(stream: String, name: String)

  /** @param position
    *   the last message read
    */
  private final class Kept(val tail: TailEntrySource, val position: Position)

  /** Memory of all waiting tails in one executor: what has arrived for them. One that needs more ends. */
  private val room = new WaitingRoom(256L << 20)

  private val kept = new ExclusiveCache[Topic, Kept](
    lasts = 30.seconds,
    most = Int.MaxValue, // the room limits them
    isUsable = _.tail.isIdle,
    close = _.tail.close()
  )

  /** Threads that wait for brokers. A tail waits for one response at a time. */
  private val background = new BlockingParallel("pulsar-tail", threads = 64)

  /** The tail that an earlier task left at the start of the range, or a new one. */
  def tail(range: OffsetRange, options: ReadOptions, stream: String): TailEntrySource =
    take(range, stream).getOrElse(open(range, options))

  /** The tail that an earlier task left at the start of the range. */
  def take(range: OffsetRange, stream: String): Option[TailEntrySource] =
    kept.take(Topic(stream, range.topic), _.position == range.startExclusive).map { kept =>
      kept.tail.leaveRoom()
      kept.tail
    }

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
      kept.closeOf(Topic(stream, topic), _.position != position)
      if (tail.waitIn(room)) kept.put(Topic(stream, topic), new Kept(tail, position)) else tail.close()
    } else tail.close()

  /** Closes the tails of a stream that ends, as far as they are in this JVM; others end by themselves. */
  def closeAll(stream: String): Unit = kept.closeAll(_.stream == stream)
}
