package io.github.pulsarspark.pulsar.broker

import java.util.concurrent.{CompletableFuture, TimeUnit}

import scala.annotation.tailrec
import scala.util.control.NonFatal

import org.apache.pulsar.client.impl.PulsarClientImpl
import org.apache.pulsar.common.api.proto.CommandGetTopicsOfNamespace.Mode

import io.github.pulsarspark.options.ClientOptions
import io.github.pulsarspark.position.{PartitionBounds, Position}
import io.github.pulsarspark.pulsar.connection.{ClusterCalls, CurrentLookup, RefusedConnection}
import io.github.pulsarspark.pulsar.feed.FeedTimes
import io.github.pulsarspark.pulsar.schemas.SchemaLookup
import io.github.pulsarspark.pulsar.topics.{MatchingTopics, TopicListing, TopicMissing, TopicNames}
import io.github.pulsarspark.schema.TopicSchema

/** A [[BrokerApi]] over the Pulsar client's binary protocol; needs no admin service.
  *
  * Positions come from consumers, which end with the connection, whatever happens.
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
  private val lookup   = new SchemaLookup(client, answers)
  private val probes   = new PositionProbes(client, options, subscriptionPrefix, readCompacted, answers)
  private val watches  = new IdleTailMonitor(probes.watchAfter, answers)
  private val later    = new LastMessages(ends, probes.watchAfter, answers)
  private val stream   = new StreamBounds(probeAnew, watches)
  private val renewals = new Renewals

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

  override def bounds(partitions: Seq[String]): Map[String, PartitionBounds] = probes.bounds(partitions)

  override def confirmedBounds(partitions: Seq[String]): Map[String, PartitionBounds] = {
    val named = bounds(partitions)
    named ++ later.beyond(named.view.mapValues(_.last).toMap).map { case (p, last) => p -> named(p).copy(last = last) }
  }

  override def streamBounds(partitions: Seq[String]): Map[String, PartitionBounds] = {
    probes.partitions.filterNot(partitions.toSet).foreach(probes.forget)
    stream.of(partitions)
  }

  /** A cursor does not follow when the ledger it stands in is trimmed while nothing arrives after it. */
  private def probeAnew(partitions: Seq[String]): Map[String, PartitionBounds] = {
    partitions.filter(watches.after(_).isDefined).foreach(probes.forget)
    bounds(partitions)
  }

  /** Watches partitions. Each has one consumer: a watch, or a probe. The compacted view has probes only, because
    * brokers send no notice of compaction.
    */
  override def watch(positions: Map[String, Position], idle: Set[String]): Unit = if (!readCompacted) {
    watches.watch(positions, idle, probes.contains)
    probes.partitions.filter(p => positions.contains(p) && watches.isOpen(p)).foreach(probes.forget)
  }

  override def readersAfter(positions: Map[String, Position]): Map[String, Position] =
    probes.readersAt(positions)(p => s"Opening a reader of ${p._1} after ${p._2}")

  private def ends(partitions: Iterable[String]) =
    probes.readersAt(partitions.map(_ -> PulsarBroker.AfterAll).toMap)(p => s"Requesting the last entry of ${p._1}")

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
    val ending = probes.readersAt(behind)(p => s"Checking that ${p._1} goes to ${positions(p._1)}").filter {
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
    due.foreach(probes.forget)
    watches.retain(!due(_))
  }

  override def positionsBefore(times: Map[String, Long]): Map[String, Position] = probes.positionsBefore(times)

  override def schemas(topics: Seq[String]): Map[String, TopicSchema] = lookup.newest(topics)

  override def schemaAt(topic: String, version: Array[Byte]): TopicSchema = lookup.at(topic, version)

  /** Ends every subscription of this object on the server, within the deadline. */
  override def close(): Unit = {
    val closing = probes.closeAll() ++ watches.closeAll()
    try CompletableFuture.allOf(closing: _*).get(options.operationTimeout.toMillis, TimeUnit.MILLISECONDS)
    catch {
      case _: InterruptedException =>
        Thread.currentThread.interrupt() // a query that is stopped; the requests are on their way
      case NonFatal(e) => PulsarBroker.log.warn("closing the consumers that watched positions: {}", e.toString)
    }
  }
}

private object PulsarBroker {
  private val log = org.slf4j.LoggerFactory.getLogger(classOf[PulsarBroker])

  /** Position after the last entry; the client's `MessageId.latest`. */
  private val AfterAll = Position(Long.MaxValue, Long.MaxValue)
}
