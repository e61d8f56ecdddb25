package io.github.pulsarspark.pulsar.progress

import java.util.concurrent.{CompletableFuture, CompletionException}

import org.apache.pulsar.client.api.PulsarClientException
import org.apache.pulsar.client.impl.{FeedRequest, PositionConsumer, ProgressConsumer, PulsarClientImpl}

import io.github.pulsarspark.pulsar.feed.BrokerFeeds
import io.github.pulsarspark.pulsar.topics.TopicNames

/** The consumers of one durable subscription. */
private[progress] trait SubscriptionFeeds {

  /** Subscribes to a topic partition; creates the subscription at the first message. */
  def open(partition: String): CompletableFuture[ProgressFeed]

  /** Reports whether the subscription exists in a topic partition. */
  def exists(partition: String): CompletableFuture[Boolean]
}

/** Feeds of a subscription at a broker. */
private[progress] final class BrokerSubscription(client: PulsarClientImpl, name: String) extends SubscriptionFeeds {

  override def open(partition: String): CompletableFuture[ProgressFeed] =
    ProgressConsumer.open(client, partition, TopicNames.partitionIndex(partition), name).thenApply(f => f)

  /** The binary protocol does not list subscriptions. But a broker refuses a non-durable subscription with the name of
    * a durable one, and a non-durable one leaves nothing behind.
    */
  override def exists(partition: String): CompletableFuture[Boolean] = {
    val index   = TopicNames.partitionIndex(partition)
    val request = new FeedRequest(partition, index, name, null, BrokerFeeds.Earliest, 1, false)
    PositionConsumer
      .open(client, request, null)
      .thenCompose[Void](_.closeAsync())
      .handle[Boolean]((_, failure) =>
        if (failure == null) false
        else if (BrokerSubscription.isTaken(failure)) true
        else throw new CompletionException(failure)
      )
  }
}

private object BrokerSubscription {

  /** Text in the refusal of brokers of all versions. Exceeded quotas have the same class. */
  private val Taken = "Durable subscription with the same name already exists"

  private def isTaken(failure: Throwable): Boolean =
    Iterator.iterate(failure)(_.getCause).takeWhile(_ != null).exists {
      case e: PulsarClientException.NotAllowedException => Option(e.getMessage).exists(_.contains(Taken))
      case _                                            => false
    }
}
