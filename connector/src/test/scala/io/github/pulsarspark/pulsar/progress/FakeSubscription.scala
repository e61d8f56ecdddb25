package io.github.pulsarspark.pulsar.progress

import java.util.concurrent.CompletableFuture

import scala.collection.mutable
import scala.concurrent.duration._

import io.github.pulsarspark.options.ClientOptions
import io.github.pulsarspark.position.Position
import io.github.pulsarspark.pulsar.connection.ClusterCalls
import io.github.pulsarspark.pulsar.feed.PartitionFeed

/** A subscription in memory.
  *
  * @param cursors
  *   where it is, by partition
  */
private[pulsarspark] final class FakeSubscription(cursors: Map[String, Position]) extends SubscriptionFeeds {
  val opened: mutable.Buffer[String]       = mutable.Buffer.empty
  val feeds: mutable.Map[String, FakeFeed] = mutable.Map.empty
  var failures: Seq[Throwable]             = Nil // of the next attempts to open
  var existing: String => Option[Boolean]  = _ => Some(true)
  var missing: Throwable                   = new AssertionError("no failure is set")

  override def open(partition: String): CompletableFuture[ProgressFeed] = {
    opened += partition
    failures.headOption match {
      case Some(e) =>
        failures = failures.tail
        CompletableFuture.failedFuture(e)
      case None =>
        val feed = new FakeFeed(cursors(partition))
        feeds.put(partition, feed)
        CompletableFuture.completedFuture(feed)
    }
  }

  override def exists(partition: String): CompletableFuture[Boolean] =
    existing(partition).fold(CompletableFuture.failedFuture[Boolean](missing))(CompletableFuture.completedFuture(_))
}

private[pulsarspark] object FakeSubscription {

  /** A progress subscription that has these feeds. */
  def following(fake: FakeSubscription, options: ClientOptions): ProgressSubscription =
    new ProgressSubscription("mine", fake, new ClusterCalls(options, "pulsar://h:1"), 500.millis, cleanup = 100.millis)
}

private[pulsarspark] final class FakeFeed(var cursor: Position) extends ProgressFeed {
  var connected                                                 = true
  val acknowledged: mutable.Buffer[Position]                    = mutable.Buffer.empty
  var receipt: CompletableFuture[Void]                          = CompletableFuture.completedFuture(null)
  var number                                                    = 1    // of the session
  var arrived: Option[Position]                                 = None
  var arriving: Option[CompletableFuture[ProgressFeed.Arrival]] = None
  var isUninterrupted                                           = true // since the last acknowledgement
  var permits                                                   = 0
  var isClosed                                                  = false

  override def acknowledge(place: PartitionFeed.Place): CompletableFuture[Void] = {
    acknowledged += Position(place.ledgerId, place.entryId)
    receipt
  }
  override def awaitNext(): Unit                                 = permits += 1
  override def bounds(): CompletableFuture[PartitionFeed.Bounds] =
    CompletableFuture.completedFuture(new PartitionFeed.Bounds(9, 9, cursor.ledgerId, cursor.entryId))
  override def firstAfterAcknowledged(): CompletableFuture[ProgressFeed.Arrival] = arrived
    .map(p => new ProgressFeed.Arrival(new PartitionFeed.Place(p.ledgerId, p.entryId), isUninterrupted))
    .fold(arriving.fold(new CompletableFuture[ProgressFeed.Arrival])(_.copy))(CompletableFuture.completedFuture(_))
  override def isUnbroken: Boolean                   = unused
  override def newest(): PartitionFeed.Place         = unused
  override def session(): Int                        = number
  override def isGone: Boolean                       = isClosed
  override def closeAsync(): CompletableFuture[Void] = {
    isClosed = true
    CompletableFuture.completedFuture(null)
  }

  override def isConnected: Boolean        = connected
  override def resume(): Unit              = unused
  override def longestOutageMillis(): Long = unused
  private def unused: Nothing              = throw new AssertionError("a subscription takes no entries")
}
