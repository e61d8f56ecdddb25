package io.github.pulsarspark.storage.segment

import java.net.URLDecoder
import java.nio.charset.StandardCharsets.UTF_8
import java.util.concurrent.CompletableFuture

import scala.jdk.CollectionConverters._
import scala.util.control.NonFatal

import com.fasterxml.jackson.databind.JsonNode
import org.slf4j.LoggerFactory

import io.github.pulsarspark.common.BoundedParallel
import io.github.pulsarspark.options.ReadOptions
import io.github.pulsarspark.position.Interval
import io.github.pulsarspark.pulsar.admin.{AdminApi, LedgerSink}
import io.github.pulsarspark.pulsar.connection.ClusterCalls
import io.github.pulsarspark.pulsar.topics.TopicNames

/** Requests the ledgers of topic partitions from the admin service, many at a time. It checks the user's own
  * credentials, so a user who may not consume a topic does not learn where it is stored.
  */
private[pulsarspark] final class LedgerMetadata(private[storage] val admin: AdminApi, options: ReadOptions) {
  import LedgerMetadata._

  private val calls = new ClusterCalls(options.client, admin.url)

  /** Fails for the first partition whose request fails.
    *
    * @param ids
    *   for each partition those of the ledgers that are needed
    */
  def ofTopics(ids: Map[String, Interval], withMetadata: Boolean): Map[String, TopicStorage] =
    all(ids.keys.toSeq)(p => s"Requesting the ledgers of $p")(p =>
      admin.internalStats(p, withMetadata)(new TopicStorage.Reader(ids(p)))
    )

  /** Like `ofTopics`, but skips partitions that do not exist: brokers make some when they are first used. */
  def ofExisting(ids: Map[String, Interval], withMetadata: Boolean = false): Map[String, TopicStorage] =
    calls.awaitAll(ids.keys.toSeq, Parallelism)(p => s"Requesting the ledgers of $p")(p =>
      admin.found(admin.internalStats(p, withMetadata)(new TopicStorage.Reader(ids(p))))
        .thenApply[Option[(String, TopicStorage)]](_.map(p -> _))
    ).flatten.toMap

  /** Time at which each closed ledger was closed, in milliseconds since 1970, as far as it is known. */
  def closedAt(partitions: Seq[String]): Map[String, Map[Long, Long]] = ages(partitions).map { case (p, ledgers) =>
    p -> ledgers.closed.filter(_.closedAt < Long.MaxValue).map(l => l.id -> l.closedAt).toMap
  }

  /** Statistics of the partitions that exist, with an exact backlog of each subscription. */
  def statistics(partitions: Seq[String]): Map[String, JsonNode] = existing(partitions)(TopicNames.statistics)

  /** Positions up to which each durable subscription has acknowledged everything, by the names of subscriptions. */
  def cursors(partitions: Seq[String]): Map[String, Map[String, String]] =
    existing(partitions)(TopicNames.internalStatistics).map { case (p, answer) =>
      p -> answer.path("cursors").properties().asScala.map { cursor =>
        URLDecoder.decode(cursor.getKey, UTF_8) -> cursor.getValue.path("markDeletePosition").asText
      }.toMap
    }

  /** Requests an admin resource for each topic; those that do not exist are missing in the result. */
  def existing(topics: Seq[String])(resource: String => String): Map[String, JsonNode] =
    calls.awaitAll(topics, Parallelism)(t => s"Requesting ${resource(t)}")(t =>
      admin.find(resource(t)).thenApply[Option[(String, JsonNode)]](_.map(t -> _))
    ).flatten.toMap

  /** Times at which ledgers were closed. */
  def ages(partitions: Seq[String]): Map[String, LedgerPruning] = stored(partitions)(_ => new LedgerPruning.Reader)

  /** Requests the ledgers of partitions in the metadata store, see `AdminApi.internalInfo`. */
  def stored[A](partitions: Seq[String])(sink: String => LedgerSink[A]): Map[String, A] =
    all(partitions)(p => s"Requesting the metadata of the ledgers of $p")(p => admin.internalInfo(p)(sink(p)))

  private def all[A](partitions: Seq[String])(what: String => String)(request: String => CompletableFuture[A])
      : Map[String, A] =
    calls.awaitAll(partitions, Parallelism)(what)(p => request(p).thenApply[(String, A)](p -> _)).toMap

  /** Requests admin resources by their paths after `/admin/`. Skips those that do not exist or that the user may not
    * read.
    */
  def find(resources: Seq[String]): Map[String, JsonNode] =
    BoundedParallel(resources.distinct, Parallelism)(admin.find) { (resource, answer) =>
      try calls.await(s"Requesting $resource")(answer).map(resource -> _)
      catch {
        case NonFatal(e) =>
          log.info("The admin service does not report {}: {}", resource, e.getMessage)
          None
      }
    }.flatten.toMap
}

private object LedgerMetadata {
  private val log = LoggerFactory.getLogger(classOf[LedgerMetadata])

  /** Limit of requests in flight. Their responses are not kept in memory, see
    * [[io.github.pulsarspark.pulsar.admin.LedgerSink]].
    */
  private val Parallelism = 64
}
