package io.github.pulsarspark.pulsar.broker

import java.util.concurrent.{CompletableFuture, TimeUnit, TimeoutException}

import scala.annotation.tailrec
import scala.collection.concurrent.TrieMap
import scala.util.control.NonFatal

import org.apache.pulsar.client.impl.{EntryConsumer, FeedRequest, MessageIdImpl, PositionConsumer, PulsarClientImpl}
import org.apache.pulsar.common.api.proto.CommandGetTopicsOfNamespace.Mode

import io.github.pulsarspark.common.BoundedActions
import io.github.pulsarspark.options.ClientOptions
import io.github.pulsarspark.position.{PartitionBounds, Position}
import io.github.pulsarspark.pulsar.connection.{ClusterCalls, CurrentLookup, RefusedConnection}
import io.github.pulsarspark.pulsar.feed.{BrokerFeeds, FeedTimes, PartitionFeed, PendingFeed}
import io.github.pulsarspark.pulsar.schemas.SchemaLookup
import io.github.pulsarspark.pulsar.topics.{MatchingTopics, TopicListing, TopicMissing, TopicNames}
import io.github.pulsarspark.schema.TopicSchema

/** A [[BrokerApi]] over the Pulsar client's binary protocol; needs no admin service.
  *
  * Positions come from non-durable consumers that never take a message. They stay open until [[close]], so that a
  * stream requests its end with one request for each partition. They end with the connection, whatever happens.
  */
private[pulsar] final class PulsarBroker(
    client: PulsarClientImpl,
    options: ClientOptions,
    subscriptionPrefix: String,
    readCompacted: Boolean
) extends BrokerApi
    with AutoCloseable {

  private val answers = new ClusterCalls(options, options.serviceUrl)
  private val listing = new TopicListing(
    (namespace, hash) =>
      answers.ask(s"Listing the topics of $namespace")(() =>
        RefusedConnection.check(client).thenCompose(_ =>
          CurrentLookup(() => client.getLookup.getTopicsUnderNamespace(namespace, Mode.PERSISTENT, null, hash))
        )
      ),
    partitions
  )
  private val lookup          = new SchemaLookup(client, answers, options.serviceUrl)
  private val probes          = TrieMap.empty[String, PendingFeed[EntryConsumer]]
  private val watches         = new IdleTailMonitor(watchAfter, answers)
  private val later           = new LastMessages(ends, watchAfter, answers)
  private val resubscriptions =
    new BoundedActions(IdleTailMonitor.Parallelism, options.operationTimeout.toMillis,
      client.getInternalExecutorService)
  private val stream             = new StreamBounds(probeAnew, watches)
  private val renewals           = new Renewals
  @volatile private var isClosed = false

  override def partitions(topics: Seq[String]): Map[String, Seq[String]] =
    answers
      .awaitAll(topics.map(TopicNames.full))(t => s"Looking up topic $t") { topic =>
        CurrentLookup(() => client.getPartitionedTopicMetadata(topic, false, true))
          .thenApply[Option[(String, Seq[String])]](metadata =>
            Some(topic -> TopicNames.partitions(topic, metadata.partitions))
          )
          .exceptionally(TopicMissing.skip)
      }
      .flatten
      .toMap

  override def matching(pattern: String): MatchingTopics = listing.matching(pattern)

  override def names(namespace: String): Seq[String] = listing.names(namespace)

  override def bounds(partitions: Seq[String]): Map[String, PartitionBounds] = {
    probes.foreach { case (partition, probe) => if (probe.isGone) forget(partition) }
    request(partitions)
  }

  override def confirmedBounds(partitions: Seq[String]): Map[String, PartitionBounds] = {
    val named = bounds(partitions)
    named ++ later.beyond(named.view.mapValues(_.last).toMap).map { case (p, last) => p -> named(p).copy(last = last) }
  }

  override def streamBounds(partitions: Seq[String]): Map[String, PartitionBounds] = {
    probes.keys.filterNot(partitions.toSet).foreach(forget)
    stream.of(partitions)
  }

  /** A cursor does not follow when the ledger it stands in is trimmed while nothing arrives after it. */
  private def probeAnew(partitions: Seq[String]): Map[String, PartitionBounds] = {
    partitions.filter(watches.after(_).isDefined).foreach(forget)
    bounds(partitions)
  }

  private def request(partitions: Seq[String]): Map[String, PartitionBounds] =
    answers.awaitAll(partitions, IdleTailMonitor.Parallelism)(p => s"Requesting the last position of $p")(p =>
      boundsByProbe(p, System.nanoTime() + options.operationTimeout.toNanos)
        .thenApply[Option[(String, PartitionBounds)]](b => Some(p -> toBounds(b)))
        .exceptionally(TopicMissing.skip)
    ).flatten.toMap

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

  private def boundsOf(probe: PendingFeed[EntryConsumer]): CompletableFuture[PartitionFeed.Bounds] =
    probe.whenOpen.thenCompose[PartitionFeed.Bounds](_.bounds())

  /** A retry may come to it while [[close]] is at work, which would not see its consumer. */
  private def probe(partition: String): PendingFeed[EntryConsumer] = {
    val result = probes.getOrElseUpdate(partition, open(partition, BrokerFeeds.Earliest))
    if (isClosed) forget(partition)
    result
  }

  /** Watches partitions. Each has one consumer: a watch, or a probe. The compacted view has probes only, because
    * brokers send no notice of compaction.
    */
  override def watch(positions: Map[String, Position], idle: Set[String]): Unit = if (!readCompacted) {
    watches.watch(positions, idle, probes.contains)
    probes.keys.filter(p => positions.contains(p) && watches.isOpen(p)).foreach(forget)
  }

  override def readersAfter(positions: Map[String, Position]): Map[String, Position] =
    readersAt(positions)(p => s"Opening a reader of ${p._1} after ${p._2}")

  private def ends(partitions: Iterable[String]) =
    readersAt(partitions.map(_ -> PulsarBroker.AfterAll).toMap)(p => s"Requesting the last entry of ${p._1}")

  override def endingBefore(positions: Map[String, Position]): Set[String] = {
    val result = allEndingBefore(positions, FeedTimes.Confirmations)
    renew(positions.keySet)
    result
  }

  /** Partitions that end before the positions, as several consumers confirm. A topic that is being unloaded may respond
    * as if its last messages were deleted.
    */
  @tailrec
  private def allEndingBefore(positions: Map[String, Position], consumers: Int): Set[String] = {
    // a broker never places a cursor beyond the last stored entry
    val behind = positions.view.mapValues(p => Position(p.ledgerId, p.entryId + 1)).toMap
    val ending = readersAt(behind)(p => s"Checking that ${p._1} goes to ${positions(p._1)}").filter {
      case (partition, cursor) => cursor < positions(partition)
    }.keySet
    if (ending.isEmpty || consumers == 1) ending
    else {
      TimeUnit.MILLISECONDS.sleep(FeedTimes.ConfirmMillis)
      allEndingBefore(positions.filter(p => ending(p._1)), consumers - 1)
    }
  }

  /** Replaces consumers, with back-off. A broker may drop a consumer silently and then returns the same stale end for
    * ever; a new consumer gets the current one. A partition may be behind for long, so the waits grow.
    */
  private def renew(partitions: collection.Set[String]): Unit = {
    val due = renewals.due(partitions)
    due.foreach(forget)
    watches.retain(!due(_))
  }

  private def readersAt(
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

  override def positionsBefore(times: Map[String, Long]): Map[String, Position] =
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

  override def schemas(topics: Seq[String]): Map[String, TopicSchema] = lookup.newest(topics)

  override def schemaAt(topic: String, version: Array[Byte]): TopicSchema = lookup.at(topic, version)

  /** Ends every subscription of this object on the server, within the deadline. */
  override def close(): Unit = {
    isClosed = true
    val closing = probes.values.map(_.close()).toSeq ++ watches.closeAll()
    probes.clear()
    try CompletableFuture.allOf(closing: _*).get(options.operationTimeout.toMillis, TimeUnit.MILLISECONDS)
    catch {
      case _: InterruptedException =>
        Thread.currentThread.interrupt() // a query that is stopped; the requests are on their way
      case NonFatal(e) => PulsarBroker.log.warn("closing the consumers that watched positions: {}", e.toString)
    }
  }

  private def forget(partition: String): Unit = probes.remove(partition).foreach(_.close())

  private def open(partition: String, start: MessageIdImpl): PendingFeed[EntryConsumer] =
    new PendingFeed(EntryConsumer.open(client, request(partition, start, "driver"), 0))

  private def watchAfter(partition: String, after: Position): PendingFeed[PositionConsumer] = {
    val start = new MessageIdImpl(after.ledgerId, after.entryId, TopicNames.partitionIndex(partition))
    new PendingFeed(PositionConsumer.open(client, request(partition, start, "watch"), resubscriptions))
  }

  private def request(partition: String, start: MessageIdImpl, role: String): FeedRequest =
    new FeedRequest(partition, TopicNames.partitionIndex(partition), BrokerFeeds.subscription(subscriptionPrefix, role),
      null, start, 1, readCompacted)

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

private object PulsarBroker {
  private val log = org.slf4j.LoggerFactory.getLogger(classOf[PulsarBroker])

  /** Position after the last entry; the client's `MessageId.latest`. */
  private val AfterAll = Position(Long.MaxValue, Long.MaxValue)
}
