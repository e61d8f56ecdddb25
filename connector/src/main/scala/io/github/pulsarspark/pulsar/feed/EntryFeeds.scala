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

  /** Opens a consumer of what is stored, whatever compaction removed, which begins with an entry and is sent nothing.
    */
  def openStored(start: Position): PendingFeed[_ <: PartitionFeed]
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
    val request = feedRequest(start.fold(BrokerFeeds.Earliest)(messageId), permits, options.readCompacted)
    new PendingFeed(EntryConsumer.open(lease.client, request, PermitWindow.mostWaiting(options.readAheadBytes)))
  }

  override def openStored(start: Position): PendingFeed[_ <: PartitionFeed] =
    new PendingFeed(EntryConsumer.open(lease.client, feedRequest(messageId(start), 1, readCompacted = false), 0))

  private def messageId(p: Position) = new MessageIdImpl(p.ledgerId, p.entryId, partition)

  private def feedRequest(start: MessageIdImpl, permits: Int, readCompacted: Boolean) = {
    val subscription = BrokerFeeds.subscription(options.subscriptionPrefix, role)
    new FeedRequest(topic, partition, subscription, options.readerName.orNull, start, permits, readCompacted)
  }

  override def close(): Unit = lease.close()
}

private[pulsar] object BrokerFeeds {

  /** Brokers compare with this very value to find out whether the compacted view is read from its beginning. */
  val Earliest = new MessageIdImpl(-1, -1, -1)

  /** A name for a non-durable subscription, never the same twice. */
  def subscription(prefix: String, role: String): String = s"$prefix-$role-${UUID.randomUUID}"
}
