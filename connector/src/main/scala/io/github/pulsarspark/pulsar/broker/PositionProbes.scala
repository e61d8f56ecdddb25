package io.github.pulsarspark.pulsar.broker

import java.util.concurrent.{CompletableFuture, TimeUnit, TimeoutException}

import scala.collection.concurrent.TrieMap

import org.apache.pulsar.client.impl.{EntryConsumer, FeedRequest, MessageIdImpl, PositionConsumer, PulsarClientImpl}

import io.github.pulsarspark.common.BoundedActions
import io.github.pulsarspark.options.ClientOptions
import io.github.pulsarspark.position.{PartitionBounds, Position}
import io.github.pulsarspark.pulsar.connection.ClusterCalls
import io.github.pulsarspark.pulsar.feed.{BrokerFeeds, FeedTimes, PartitionFeed, PendingFeed}
import io.github.pulsarspark.pulsar.topics.{TopicMissing, TopicNames}

/** Non-durable consumers that never take a message: positions come from where they stand. Those of [[bounds]] stay open
  * until [[closeAll]], so that a stream requests its end with one request for each partition.
  */
private[broker] final class PositionProbes(
    client: PulsarClientImpl,
    options: ClientOptions,
    subscriptionPrefix: String,
    readCompacted: Boolean,
    answers: ClusterCalls
) {

  private val probes          = TrieMap.empty[String, PendingFeed[EntryConsumer]]
  private val resubscriptions =
    new BoundedActions(IdleTailMonitor.Parallelism, options.operationTimeout.toMillis,
      client.getInternalExecutorService)
  @volatile private var isClosed = false

  /** Partitions whose probe is open or being opened. */
  def partitions: Iterable[String] = probes.keys

  def contains(partition: String): Boolean = probes.contains(partition)

  /** Closes the probe of a partition; the next request opens another one. */
  def forget(partition: String): Unit = probes.remove(partition).foreach(_.close())

  /** Requests where these partitions begin and end; missing ones are skipped. */
  def bounds(partitions: Seq[String]): Map[String, PartitionBounds] = {
    probes.foreach { case (partition, probe) => if (probe.isGone) forget(partition) }
    answers.awaitAll(partitions, IdleTailMonitor.Parallelism)(p => s"Requesting the last position of $p")(p =>
      boundsByProbe(p, System.nanoTime() + options.operationTimeout.toNanos)
        .thenApply[Option[(String, PartitionBounds)]](b => Some(p -> toBounds(b)))
        .exceptionally(TopicMissing.skip)
    ).flatten.toMap
  }

  /** Requests bounds by the partition's probe, and by another one if it does not respond in time: a broker may never
    * respond to a consumer that subscribed while the topic was unloaded.
    */
  private def boundsByProbe(partition: String, deadline: Long): CompletableFuture[PartitionFeed.Bounds] = {
    val opening  = probe(partition).whenOpen
    val patience = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime())
    val mayRetry = patience > FeedTimes.UnansweredMillis && !isClosed
    val millis   = if (mayRetry) FeedTimes.UnansweredMillis else options.operationTimeout.toMillis
    val answer   =
      opening.thenCompose[PartitionFeed.Bounds](_.bounds().copy().orTimeout(millis, TimeUnit.MILLISECONDS))
    answer
      .handle[CompletableFuture[PartitionFeed.Bounds]] { (_, failure) =>
        if (mayRetry && !isClosed && isUnanswered(failure)) {
          forget(partition)
          boundsByProbe(partition, deadline)
        } else answer
      }
      .thenCompose[PartitionFeed.Bounds](next => next)
  }

  private def isUnanswered(failure: Throwable): Boolean =
    failure != null && failure.getCause.isInstanceOf[TimeoutException]

  /** A retry may come to it while [[closeAll]] is at work, which would not see its consumer. */
  private def probe(partition: String): PendingFeed[EntryConsumer] = {
    val result = probes.getOrElseUpdate(partition, open(partition, BrokerFeeds.Earliest))
    if (isClosed) forget(partition)
    result
  }

  /** Looks up where consumers stand that begin after these positions; missing partitions are skipped. */
  def readersAt(
      starts: Map[String, Position]
  )(what: ((String, Position)) => String): Map[String, Position] =
    answers
      .awaitAll(starts.toSeq, IdleTailMonitor.Parallelism)(what) { case (partition, start) =>
        val probe =
          open(partition, new MessageIdImpl(start.ledgerId, start.entryId, TopicNames.partitionIndex(partition)))
        boundsOf(probe)
          .thenApply[Option[(String, Position)]](b => Some(partition -> markDelete(b)))
          .exceptionally(TopicMissing.skip)
          .whenComplete((_, _) => probe.close())
      }
      .flatten
      .toMap

  /** Looks up where consumers stand that begin at these times. */
  def positionsBefore(times: Map[String, Long]): Map[String, Position] =
    answers
      .awaitAll(times.toSeq)(t => s"Looking up the position of a time in ${t._1}") { case (partition, millis) =>
        val probe = open(partition, BrokerFeeds.Earliest)
        probe.whenOpen
          .thenCompose[Void](_.seekAsync(math.max(0, millis)))
          .thenCompose[PartitionFeed.Bounds](_ => boundsOf(probe))
          .thenApply[(String, Position)](b => partition -> markDelete(b))
          .whenComplete((_, _) => probe.close())
      }
      .toMap

  private def boundsOf(probe: PendingFeed[EntryConsumer]): CompletableFuture[PartitionFeed.Bounds] =
    probe.whenOpen.thenCompose[PartitionFeed.Bounds](_.bounds())

  private def open(partition: String, start: MessageIdImpl): PendingFeed[EntryConsumer] =
    new PendingFeed(EntryConsumer.open(client, request(partition, start, "driver"), 0))

  /** Opens a consumer that remembers what follows a position. Its user closes it. */
  def watchAfter(partition: String, after: Position): PendingFeed[PositionConsumer] = {
    val start = new MessageIdImpl(after.ledgerId, after.entryId, TopicNames.partitionIndex(partition))
    new PendingFeed(PositionConsumer.open(client, request(partition, start, "watch"), resubscriptions))
  }

  private def request(partition: String, start: MessageIdImpl, role: String): FeedRequest =
    new FeedRequest(partition, TopicNames.partitionIndex(partition), BrokerFeeds.subscription(subscriptionPrefix, role),
      null, start, 1, readCompacted)

  def closeAll(): Seq[CompletableFuture[Void]] = {
    isClosed = true
    val closing = probes.values.map(_.close()).toSeq
    probes.clear()
    closing
  }

  private def markDelete(b: PartitionFeed.Bounds) = Position(b.markDeleteLedgerId, b.markDeleteEntryId)

  /** The compacted view begins before everything, since ledgers of which compaction kept entries may be deleted. */
  private def toBounds(b: PartitionFeed.Bounds): PartitionBounds = {
    val stored = markDelete(b)
    val first  = if (readCompacted) Position.BeforeAll else stored
    val last   = Position(b.lastLedgerId, b.lastEntryId)
    PartitionBounds(
      first,
      if (last.isBeforeLedger || last < first) first else last,
      compactedBefore = Option.when(readCompacted)(stored)
    )
  }
}
