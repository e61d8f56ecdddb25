package io.github.pulsarspark.storage.ledgers

import java.util.concurrent.CompletableFuture

import scala.util.control.NonFatal

import com.fasterxml.jackson.databind.JsonNode
import org.slf4j.LoggerFactory

import io.github.pulsarspark.common.BoundedParallel
import io.github.pulsarspark.options.ReadOptions
import io.github.pulsarspark.position.Interval
import io.github.pulsarspark.pulsar.topics.TopicNames
import io.github.pulsarspark.pulsar.admin.{AdminApi, JsonFields, LedgerSink}
import io.github.pulsarspark.pulsar.connection.ClusterCalls
import io.github.pulsarspark.storage.offload.OffloadLocations
import io.github.pulsarspark.storage.segment.OffloadLocation

/** Where a topic partition's offloaded ledgers are.
  *
  * @param uuids
  *   of the copy of each ledger
  */
private[storage] final case class Offloads(location: Either[String, OffloadLocation], uuids: Map[Long, String])

/** Asks the admin service for the ledgers of topic partitions, many at a time. It answers for the user's own
  * credentials, so whoever may not consume a topic does not learn where it is stored.
  */
private[storage] final class LedgerMetadata(admin: AdminApi, options: ReadOptions) {
  import LedgerMetadata._

  private val answers = new ClusterCalls(options.client, admin.url)

  /** Fails for the first partition that the service does not answer for.
    *
    * @param ids
    *   for each partition those of the ledgers that are needed
    */
  def ofTopics(ids: Map[String, Interval], withMetadata: Boolean): Map[String, TopicStorage] =
    asked(ids.keys.toSeq)(p => s"Asking for the ledgers of $p")(p =>
      admin.internalStats(p, withMetadata)(new TopicStorage.Reader(ids(p)))
    )

  /** When ledgers were closed. */
  def ages(partitions: Seq[String]): Map[String, LedgerPruning] = stored(partitions)(_ => new LedgerPruning.Reader)

  /** Where offloaded ledgers are.
    *
    * @param ledgers
    *   for each partition those that are needed, some at least
    */
  def offloads(ledgers: Map[String, Set[Long]]): Map[String, Offloads] = {
    val partitions = ledgers.keys.toSeq
    val policy     = if (options.offloadLocation.isDefined && options.offloadFormat.isDefined) (_: String) => None
    else policies(partitions)
    stored(partitions)(p => new UuidReader(ledgers(p))).map { case (partition, found) =>
      partition ->
        Offloads(OffloadLocations.find(policy(partition), options.offloadLocation, options.offloadFormat), found)
    }
  }

  private def stored[A](partitions: Seq[String])(sink: String => LedgerSink[A]): Map[String, A] =
    asked(partitions)(p => s"Asking for what is stored of the ledgers of $p")(p => admin.internalInfo(p)(sink(p)))

  private def asked[A](partitions: Seq[String])(what: String => String)(ask: String => CompletableFuture[A])
      : Map[String, A] =
    answers.awaitAll(partitions, AtOnce)(what)(p => ask(p).thenApply[(String, A)](p -> _)).toMap

  /** Those of a partition's topic, else of its namespace. */
  private def policies(partitions: Seq[String]): String => Option[JsonNode] = {
    val ofTopics     = told(partitions.map(TopicNames.offloadPolicies))
    val missing      = partitions.filterNot(p => ofTopics.contains(TopicNames.offloadPolicies(p)))
    val ofNamespaces = told(missing.map(TopicNames.namespaceOffloadPolicies))
    p => ofTopics.get(TopicNames.offloadPolicies(p)).orElse(ofNamespaces.get(TopicNames.namespaceOffloadPolicies(p)))
  }

  /** The offload policies there are; not everybody who may read a topic may see them. */
  private def told(resources: Seq[String]): Map[String, JsonNode] =
    BoundedParallel(resources.distinct, AtOnce)(admin.find) { (resource, answer) =>
      try answers.await(s"Asking for $resource")(answer).filter(_.has("managedLedgerOffloadDriver")).map(resource -> _)
      catch {
        case NonFatal(e) =>
          log.info("The admin service does not tell {}: {}", resource, e.getMessage)
          None
      }
    }.flatten.toMap
}

private object LedgerMetadata {
  private val log = LoggerFactory.getLogger(classOf[LedgerMetadata])

  /** Questions under way at the same time. Their answers are not held, see
    * [[io.github.pulsarspark.pulsar.admin.LedgerSink]].
    */
  private val AtOnce = 64

  /** Under which id each ledger was offloaded. */
  private final class UuidReader(ledgers: Set[Long]) extends LedgerSink[Map[Long, String]] {
    private val found = Map.newBuilder[Long, String]

    override def ledger(fields: JsonFields): Unit = {
      val id = fields.long("ledgerId")
      if (ledgers(id)) fields.text("offloadedContextUuid").foreach(uuid => found += id -> uuid)
    }

    override def end(fields: JsonFields): Map[Long, String] = found.result()
  }
}
