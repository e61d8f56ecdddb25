package io.github.pulsarspark.storage.ledgers

import java.util.concurrent.CompletableFuture

import scala.util.control.NonFatal

import com.fasterxml.jackson.databind.JsonNode
import org.slf4j.LoggerFactory

import io.github.pulsarspark.common.BoundedParallel
import io.github.pulsarspark.options.ReadOptions
import io.github.pulsarspark.position.Interval
import io.github.pulsarspark.pulsar.admin.{AdminApi, LedgerSink}
import io.github.pulsarspark.pulsar.connection.ClusterCalls

/** Requests the ledgers of topic partitions from the admin service, many at a time. It checks the user's own
  * credentials, so a user who may not consume a topic does not learn where it is stored.
  */
private[pulsarspark] final class LedgerMetadata(admin: AdminApi, options: ReadOptions) {
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

  /** Storage of the partitions that exist; brokers make some when they are first used. */
  def ofExisting(partitions: Seq[String], ids: Interval, withMetadata: Boolean = false): Map[String, TopicStorage] =
    calls.awaitAll(partitions, Parallelism)(p => s"Asking for the ledgers of $p")(p =>
      admin.found(admin.internalStats(p, withMetadata)(new TopicStorage.Reader(ids)))
        .thenApply[Option[(String, TopicStorage)]](_.map(p -> _))
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
