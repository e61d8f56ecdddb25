package io.github.pulsarspark.pulsar.progress

import java.util.concurrent.{CompletableFuture, CompletionException}

import scala.collection.mutable
import scala.concurrent.duration._
import scala.util.control.NonFatal

import org.apache.pulsar.client.api.PulsarClientException
import org.apache.pulsar.client.impl.PulsarClientImpl
import org.slf4j.LoggerFactory

import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.options.ClientOptions
import io.github.pulsarspark.position.{OffsetRange, Position}
import io.github.pulsarspark.pulsar.feed.{PartitionFeed, PendingFeed}
import io.github.pulsarspark.pulsar.connection.{ClusterCalls, RepeatedRequest}
import io.github.pulsarspark.pulsar.topics.TopicMissing

/** A durable subscription that follows what a stream has committed. The broker keeps the messages after it, and its
  * backlog shows what the stream has not read.
  *
  * Nothing is read with it. It is never sought and never moves back. Acknowledgements are sent without a wait, and each
  * trigger looks at the receipts of earlier ones. For one thread.
  *
  * @param patience
  *   the longest wait for the end of another consumer
  * @param cleanup
  *   how long a broker may take to remove a non-durable subscription that was closed
  */
private[pulsarspark] final class ProgressSubscription private[progress] (
    val name: String,
    feeds: SubscriptionFeeds,
    calls: ClusterCalls,
    patience: FiniteDuration,
    cleanup: FiniteDuration
) extends AutoCloseable {
  import ProgressSubscription._

  private val cursors  = mutable.LinkedHashMap.empty[String, PartitionCursor]
  private var isWarned = false

  /** Positions of the subscription in these partitions; missing partitions are skipped. Fails where the subscription
    * does not exist.
    */
  def positions(partitions: Seq[String]): Map[String, Position] = {
    val existing = calls
      .awaitAll(partitions, Parallelism)(p => s"Looking for subscription $name of $p")(p =>
        feeds.exists(p).thenApply[Option[Boolean]](Some(_)).exceptionally(TopicMissing.skip)
      )
      .zip(partitions)
    existing.find(_._1.contains(false)).foreach { case (_, p) =>
      throw Conditions.SubscriptionNotFound(subscription = name, topic = p).exception
    }
    val subscribed = existing.collect { case (Some(_), p) => p }
    open(subscribed, _ => false)
    subscribed.flatMap(p => cursors.get(p).flatMap(_.acknowledged).map(p -> _)).toMap
  }

  /** Subscribes to these partitions and no others. Where the subscription does not exist, it begins at the first
    * message.
    *
    * @param isFollowed
    *   the partitions in which an earlier run of the query may have acknowledged with the subscription
    */
  def subscribe(partitions: collection.Set[String], isFollowed: String => Boolean): Unit = {
    cursors.filterNot { case (p, cursor) => partitions(p) && !cursor.pending.isGone && !cursor.isStuck }.foreach {
      case (p, cursor) =>
        cursors.remove(p)
        cursor.pending.close()
    }
    open(partitions.toSeq.sorted, isFollowed)
  }

  /** True if the subscription keeps what follows these positions, in every partition. A subscription that is ahead does
    * not.
    */
  def holds(read: Map[String, Position]): Boolean =
    cursors.forall { case (p, cursor) => read.get(p).forall(cursor.beganBy) }

  /** Acknowledges what is committed, and looks at earlier receipts. Does not wait.
    *
    * @param read
    *   what Spark has committed of each partition
    * @param next
    *   what the stream has read after the micro-batch that starts now
    * @param last
    *   the last message of each partition
    */
  def acknowledge(read: Map[String, Position], next: Map[String, Position], last: Map[String, Position]): Unit = {
    warnOfFailures()
    for ((partition, position) <- read; cursor <- cursors.get(partition)) {
      val isReadOn = (next.get(partition) ++ last.get(partition)).exists(_ > position)
      cursor.acknowledge(Acknowledgement.of(position, isReadOn))
      if (!isReadOn && last.get(partition).contains(position)) cursor.awaitNext()
    }
  }

  /** The ranges without the ends of ledgers that were acknowledged, because the broker may have deleted these ledgers.
    *
    * @param isFollowed
    *   the partitions in which an earlier run of the query may have acknowledged with the subscription
    * @param readersAfter
    *   where the broker puts readers that start after these positions
    */
  def withoutAcknowledged(
      ranges: Seq[OffsetRange],
      isFollowed: String => Boolean,
      readersAfter: Map[String, Position] => Map[String, Position]
  ): Seq[OffsetRange] = {
    val overLedgers = ranges.filter(r => r.startExclusive.ledgerId < r.endInclusive.ledgerId)
    open(overLedgers.map(_.topic), isFollowed)
    val kept  = overLedgers.filter(r => cursors.get(r.topic).exists(_.hasKept(r.startExclusive)))
    val first = calls
      .awaitAll(kept, Parallelism)(r => s"Waiting for the first message after ${r.startExclusive} in ${r.topic}")(r =>
        cursors(r.topic).firstAfter(r.startExclusive).thenApply(_.map(r.topic -> _))
      )
      .flatten
      .toMap
    val next  = first.collect { case (p, arrival) if arrival.isNext => p -> position(arrival) }
    val begun = kept.flatMap(r => Acknowledgement.startBefore(r, next.get(r.topic)).map(r.topic -> _)).toMap
    val rest  = kept.filterNot(r => begun.contains(r.topic))
    val now   = calls
      .awaitAll(rest, Parallelism)(r => s"Requesting the cursor of subscription $name in ${r.topic}") { range =>
        cursors(range.topic).pending.whenOpen
          .thenCompose[PartitionFeed.Bounds](_.bounds())
          .thenApply[Option[(OffsetRange, Position)]](b => Some(range -> markDelete(b)))
          .exceptionally(TopicMissing.skip)
      }
      .flatten
    val readers = if (now.isEmpty) Map.empty[String, Position]
    else readersAfter(now.map { case (r, _) => r.topic -> r.startExclusive }.toMap)
    val starts = begun ++ now.map { case (r, cursor) =>
      r.topic -> Acknowledgement.startOf(r, cursor, readers.get(r.topic), first.get(r.topic).map(position))
    }
    ranges.map(r => starts.get(r.topic).fold(r)(start => r.copy(startExclusive = start))).filterNot(_.isEmpty)
  }

  /** Waits a moment for receipts, then ends the consumers. The subscription stays. */
  override def close(): Unit = {
    val deadline = System.nanoTime() + Seq(patience, CloseTimeout).min.toNanos
    try {
      val missing = cursors.filterNot { case (_, c) => c.awaitReceipt(deadline - System.nanoTime()) }.keys.toSeq
      missing.headOption.foreach { p =>
        log.warn(s"Subscription $name: the last acknowledgements of ${missing.size} partitions, such as $p, have no " +
          "receipt. The next start of the query sends them again.")
      }
      val closing = cursors.values.map(_.pending.close()).toSeq
      CompletableFuture.allOf(closing: _*).get(Seq(patience, CloseTimeout).min.toMillis, MILLISECONDS)
    } catch {
      case _: InterruptedException => // the requests are on their way
        cursors.values.foreach(_.pending.close())
        Thread.currentThread.interrupt()
      case NonFatal(e) => log.warn(s"Closing the consumers of subscription $name: $e")
    } finally cursors.clear()
  }

  /** A subscription that an earlier run used may have been deleted since: the one that is made in its place is new. */
  private def open(partitions: Seq[String], isFollowed: String => Boolean): Unit = {
    val fresh = partitions.filterNot(cursors.contains)
    calls
      .awaitAll(fresh, Parallelism)(p => s"Subscribing to $p with subscription $name") { p =>
        val existed = if (isFollowed(p)) feeds.exists(p) else CompletableFuture.completedFuture(false)
        val pending = new PendingFeed(existed.thenCompose[ProgressFeed] { there =>
          if (isFollowed(p) && !there) afterCleanup(() => feed(p)) else feed(p)
        })
        cursors.put(p, new PartitionCursor(pending, existed.getNow(false)))
        pending.whenOpen
          .thenCompose[Option[(ProgressFeed, Position)]](feed =>
            feed.bounds().thenApply(b => Some(feed -> markDelete(b)))
          )
          .exceptionally(TopicMissing.skip)
      }
      .zip(fresh)
      .foreach {
        case (Some((feed, cursor)), p) => cursors(p).opened(feed, cursor)
        case (None, p)                 => cursors.remove(p).foreach(_.pending.close())
      }
  }

  /** Opens a feed after the broker's cleanup. The broker removes the subscription of the existence check in the
    * background, and a subscription of that name must not exist until then.
    */
  private def afterCleanup(open: () => CompletableFuture[ProgressFeed]): CompletableFuture[ProgressFeed] =
    CompletableFuture
      .supplyAsync[CompletableFuture[ProgressFeed]](() => open(),
        CompletableFuture.delayedExecutor(cleanup.toMillis, MILLISECONDS))
      .thenCompose(identity(_))

  private def feed(partition: String): CompletableFuture[ProgressFeed] =
    RepeatedRequest(patience, Pause, busy(_).isDefined)(() => feeds.open(partition)).handle[ProgressFeed] {
      (feed, failure) =>
        if (failure == null) feed
        else
          throw busy(failure).fold[Throwable](new CompletionException(failure))(cause =>
            Conditions.SubscriptionBusy(subscription = name, topic = partition, waited = patience.toMillis.toString,
              cause = cause).exception
          )
    }

  private def warnOfFailures(): Unit = {
    val failures = cursors.toSeq.flatMap { case (p, cursor) => cursor.failure.map(p -> _) }
    if (!isWarned) failures.headOption.foreach { case (p, e) =>
      log.warn(s"Subscription $name: acknowledgements failed in ${failures.size} partitions, such as $p: $e. Each " +
        "trigger sends them again.")
    }
    isWarned = failures.nonEmpty || isWarned && !cursors.values.forall(_.isReceived)
  }
}

private[pulsar] object ProgressSubscription {
  private val log = LoggerFactory.getLogger(classOf[ProgressSubscription])

  /** Partitions that are subscribed to at the same time. */
  private val Parallelism = 128

  /** Pause between two attempts to subscribe while another consumer is connected. */
  private val Pause = 250.millis

  private val Cleanup = 2.seconds

  /** Timeout for the last receipts when the subscription is closed. */
  private val CloseTimeout = 5.seconds

  def apply(client: PulsarClientImpl, options: ClientOptions, name: String): ProgressSubscription =
    new ProgressSubscription(name, new BrokerSubscription(client, name), new ClusterCalls(options, options.serviceUrl),
      options.operationTimeout, Cleanup)

  private def position(arrival: ProgressFeed.Arrival) = Position(arrival.place.ledgerId, arrival.place.entryId)

  private def markDelete(b: PartitionFeed.Bounds) = Position(b.markDeleteLedgerId, b.markDeleteEntryId)

  /** Message of the broker if other consumers use the subscription; None for another failure. */
  private def busy(failure: Throwable): Option[String] =
    Iterator.iterate(failure)(_.getCause).takeWhile(_ != null).collectFirst {
      case e: PulsarClientException.ConsumerBusyException => e.getMessage.linesIterator.nextOption().getOrElse("")
    }
}
