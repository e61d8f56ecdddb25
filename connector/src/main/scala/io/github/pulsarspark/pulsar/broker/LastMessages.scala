package io.github.pulsarspark.pulsar.broker

import java.util.concurrent.TimeUnit

import scala.annotation.tailrec
import scala.concurrent.duration._

import org.slf4j.LoggerFactory

import io.github.pulsarspark.position.Position
import io.github.pulsarspark.pulsar.connection.ClusterCalls
import io.github.pulsarspark.pulsar.feed.{FeedBounds, PartitionFeed, PendingFeed}
import io.github.pulsarspark.pulsar.topics.TopicMissing

/** Finds last messages that brokers do not name. A broker that looks for the last message while a transaction ends may
  * keep the one before the transaction. It names that until a message is published or another transaction ends
  * (`PersistentTopic.getLastDispatchablePosition`). It sends the messages after it nevertheless.
  *
  * What is stored after the last message is a marker, an aborted message, one whose transaction is open, or one that is
  * not named. So a consumer listens there. The broker sends it what can be read, and acknowledges markers and aborted
  * messages itself: a cursor that reaches the end proves that nothing can be read. Nothing but an open transaction
  * stops both, for which the search ends after a while. A broker that is slow is at work as long as the cursor moves.
  *
  * @param ends
  *   requests the last entry that is stored of partitions, whatever it is; missing partitions are skipped
  * @param after
  *   opens a consumer that receives what follows a position
  * @param nanos
  *   the clock
  */
private[broker] final class LastMessages(
    ends: Iterable[String] => Map[String, Position],
    after: (String, Position) => PendingFeed[_ <: PartitionFeed],
    answers: ClusterCalls,
    nanos: () => Long = () => System.nanoTime()
) {
  import LastMessages._

  /** The last messages of partitions where they are later than named.
    *
    * @param named
    *   the last message of each partition, as its broker names it
    */
  def beyond(named: Map[String, Position]): Map[String, Position] = {
    val stored = ends(named.keys)
    // a topic without entries since it was loaded has just looked for its last message
    val open   = named.filter { case (p, last) => stored.get(p).exists(end => end > last && !end.isBeforeLedger) }
    val result = open.toSeq.grouped(Parallelism).flatMap(some => search(some.toMap, stored, Map.empty)).toMap
    result.foreach { case (p, last) =>
      log.info("{}: the broker names {} as the last message, but sends {}", p, named(p), last)
    }
    result
  }

  @tailrec
  private def search(
      from: Map[String, Position],
      stored: Map[String, Position],
      found: Map[String, Position]
  ): Map[String, Position] =
    if (from.isEmpty) found
    else {
      val feeds  = from.toSeq.map { case (p, position) => p -> after(p, position) }
      val newest =
        try {
          feeds.foreach { case (_, feed) => feed.whenOpen.thenAccept(_.resume()) }
          listen(feeds, from, stored, Seen(from))
        } finally feeds.foreach(_._2.close())
      val later = newest.filter { case (p, position) => position > from(p) }
      search(later.filter { case (p, position) => position < stored(p) }, stored, found ++ later)
    }

  /** The newest entry that arrived in each feed, until nothing more arrives. */
  @tailrec
  private def listen(
      feeds: Seq[(String, PendingFeed[_ <: PartitionFeed])],
      from: Map[String, Position],
      stored: Map[String, Position],
      before: Seen
  ): Map[String, Position] = {
    val bounds = ask(feeds)
    val now    = before.after(bounds, nanos())
    val left   = feeds.filter { case (p, _) =>
      val hasEnded = now.last(p) >= stored(p) || now.last(p) == before.last(p) && now.last(p) > from(p)
      bounds.get(p).exists(b => !hasEnded && b.cursor < stored(p))
    }
    if (left.isEmpty || nanos() - now.since >= ListenTimeout.toNanos) now.last
    else {
      TimeUnit.MILLISECONDS.sleep(PauseMillis)
      listen(left, from, stored, now)
    }
  }

  private def ask(feeds: Seq[(String, PendingFeed[_ <: PartitionFeed])]): Map[String, FeedBounds] =
    answers
      .awaitAll(feeds)(f => s"Looking up what follows the last message of ${f._1}") { case (partition, feed) =>
        feed.whenOpen
          .thenCompose[PartitionFeed.Bounds](_.bounds())
          .thenApply[Option[(String, FeedBounds)]](b => Some(partition -> FeedBounds(b)))
          .exceptionally(TopicMissing.skip)
      }
      .flatten
      .toMap
}

private object LastMessages {
  private val log = LoggerFactory.getLogger(classOf[LastMessages])

  /** State of the feeds at a response.
    *
    * @param last
    *   the newest entry of each partition
    * @param since
    *   when any of this was new
    */
  private final case class Seen(last: Map[String, Position], cursors: Map[String, Position], since: Long) {

    def after(bounds: Map[String, FeedBounds], now: Long): Seen = {
      val newLast    = last ++ bounds.collect { case (p, b) if b.last > last(p) => p -> b.last }
      val newCursors = cursors ++ bounds.view.mapValues(_.cursor)
      Seen(newLast, newCursors, if (newLast == last && newCursors == cursors) since else now)
    }
  }

  private object Seen {

    /** State before the first response, which begins the wait. */
    def apply(last: Map[String, Position]): Seen = Seen(last, Map.empty, 0L)
  }

  /** Partitions that are searched at the same time. */
  private val Parallelism = 128

  /** Timeout without a new entry or a cursor that moves; brokers send new entries from memory. */
  private val ListenTimeout = 500.millis

  private val PauseMillis = 10L
}
