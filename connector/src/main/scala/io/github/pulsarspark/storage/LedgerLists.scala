package io.github.pulsarspark.storage

import scala.jdk.CollectionConverters._
import scala.util.control.NonFatal

import com.fasterxml.jackson.databind.JsonNode
import org.slf4j.LoggerFactory

import io.github.pulsarspark.client.{AdminApi, Answers, InTurn, TopicNames}
import io.github.pulsarspark.options.ReadOptions
import io.github.pulsarspark.storage.tiered.OffloadLocations

/** Where a topic partition's offloaded ledgers are.
  *
  * @param uuids
  *   of the copy of each ledger
  */
private[storage] final case class Offloads(location: Either[String, OffloadLocation], uuids: Map[Long, String])

/** Asks the admin service for the ledgers of topic partitions, many at a time. It answers for the user's own credentials, so whoever may not consume a topic does
  * not learn where it is stored.
  */
private[storage] final class LedgerLists(admin: AdminApi, options: ReadOptions) {
  import LedgerLists._

  private val answers = new Answers(options.client, admin.url)

  /** Fails for the first partition that the service does not answer for. */
  def ofTopics(partitions: Seq[String]): Map[String, TopicStorage] = answers
    .awaitAll(partitions, AtOnce)(p => s"Asking for the ledgers of $p")(p =>
      admin.internalStats(p, withMetadata = true).thenApply[(String, TopicStorage)](stats => p -> TopicStorage.parse(stats))
    )
    .toMap

  /** When ledgers were closed. */
  def ages(partitions: Seq[String]): Map[String, LedgerAges] =
    stored(partitions)(LedgerAges.parse)

  /** Where offloaded ledgers are; asked only for partitions that have some. */
  def offloads(partitions: Seq[String]): Map[String, Offloads] = {
    val policy = if (options.offloadLocation.isDefined && options.offloadFormat.isDefined) (_: String) => None else policies(partitions)
    stored(partitions)(uuids).map { case (partition, found) =>
      partition -> Offloads(OffloadLocations.find(policy(partition), options.offloadLocation, options.offloadFormat), found)
    }
  }

  private def stored[A](partitions: Seq[String])(parse: JsonNode => A): Map[String, A] = answers
    .awaitAll(partitions, AtOnce)(p => s"Asking for what is stored of the ledgers of $p")(p =>
      admin.internalInfo(p).thenApply[(String, A)](info => p -> parse(info))
    )
    .toMap

  private def uuids(info: JsonNode): Map[Long, String] = info
    .path("ledgers")
    .asScala
    .flatMap(l => Option(l.path("offloadedContextUuid").asText(null)).map(l.path("ledgerId").asLong -> _))
    .toMap

  /** Those of a partition's topic, else of its namespace. */
  private def policies(partitions: Seq[String]): String => Option[JsonNode] = {
    val ofTopics     = told(partitions.map(TopicNames.offloadPolicies))
    val missing      = partitions.filterNot(p => ofTopics.contains(TopicNames.offloadPolicies(p)))
    val ofNamespaces = told(missing.map(TopicNames.namespaceOffloadPolicies))
    p => ofTopics.get(TopicNames.offloadPolicies(p)).orElse(ofNamespaces.get(TopicNames.namespaceOffloadPolicies(p)))
  }

  /** The offload policies there are; not everybody who may read a topic may see them. */
  private def told(resources: Seq[String]): Map[String, JsonNode] =
    InTurn(resources.distinct, AtOnce)(admin.find) { (resource, answer) =>
      try answers.await(s"Asking for $resource")(answer).filter(_.has("managedLedgerOffloadDriver")).map(resource -> _)
      catch {
        case NonFatal(e) =>
          log.info("The admin service does not tell {}: {}", resource, e.getMessage)
          None
      }
    }.flatten.toMap
}

private object LedgerLists {
  private val log = LoggerFactory.getLogger(classOf[LedgerLists])

  /** Questions under way at the same time. */
  private val AtOnce = 64
}
