package io.github.pulsarspark.pulsar.feed

import java.util.UUID

import org.apache.pulsar.client.impl.{EntryConsumer, FeedRequest, MessageIdImpl}

import io.github.pulsarspark.options.ReadOptions
import io.github.pulsarspark.position.Position
import io.github.pulsarspark.pulsar.connection.ClientLease
import io.github.pulsarspark.pulsar.topics.TopicNames

/** Opens feeds of one topic partition. */
private[pulsar] trait EntryFeeds extends AutoCloseable {

  /** Opens a feed, paused.
    *
    * @param start
    *   the entry to begin with, or the first one after it; None begins with the first entry there is, of the compacted
    *   view if that is read
    * @param permits
    *   messages that may be sent at first
    */
  def open(start: Option[Position], permits: Int): PendingFeed[_ <: EntryFeed]
}

/** The feeds of a broker. Closing returns the client.
  *
  * @param role
  *   who reads; part of the names of subscriptions
  */
private[pulsar] final class BrokerFeeds(lease: ClientLease, topic: String, options: ReadOptions, role: String)
    extends EntryFeeds {

  private val partition = TopicNames.partitionIndex(topic)

  override def open(start: Option[Position], permits: Int): PendingFeed[_ <: EntryFeed] = {
    val subscription = BrokerFeeds.subscription(options.subscriptionPrefix, role)
    val id           = start.fold(BrokerFeeds.Earliest)(p => new MessageIdImpl(p.ledgerId, p.entryId, partition))
    new PendingFeed(
      EntryConsumer.open(
        lease.client,
        new FeedRequest(topic, partition, subscription, options.readerName.orNull, id, permits, options.readCompacted),
        PermitWindow.mostWaiting(options.readAheadBytes)
      )
    )
  }

  override def close(): Unit = lease.close()
}

private[pulsar] object BrokerFeeds {

  /** Brokers compare with this very value to find out whether the compacted view is read from its beginning. */
  val Earliest = new MessageIdImpl(-1, -1, -1)

  /** A name for a non-durable subscription, never the same twice. */
  def subscription(prefix: String, role: String): String = s"$prefix-$role-${UUID.randomUUID}"
}
