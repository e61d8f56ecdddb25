package io.github.pulsarspark.storage

import scala.jdk.CollectionConverters._
import scala.util.control.NonFatal

import com.fasterxml.jackson.databind.JsonNode
import org.slf4j.LoggerFactory

import io.github.pulsarspark.client.{AdminApi, Answers, TopicNames}
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
private[storage] final class LedgerLists(admin: AdminApi, answers: Answers, options: ReadOptions) {
  import LedgerLists._

  /** Fails for the first partition that the service does not answer for. */
  def ofTopics(partitions: Seq[String]): Map[String, TopicStorage] = answers
    .awaitAll(partitions, AtOnce)(p => s"Asking for the ledgers of $p")(p => admin.internalStats(p, withMetadata = true))
    .map(TopicStorage.parse)
    .zip(partitions)
    .map(_.swap)
    .toMap

  /** When ledgers were closed. */
  def ages(partitions: Seq[String]): Map[String, LedgerAges] =
    partitions.zip(stored(partitions).map(LedgerAges.parse)).toMap

  /** Where offloaded ledgers are; asked only for partitions that have some. */
  def offloads(partitions: Seq[String]): Map[String, Offloads] = {
    val infos    = stored(partitions)
    val policies = if (options.offloadLocation.isDefined && options.offloadFormat.isDefined) Nil else partitions.map(policiesOf)
    partitions.zip(infos).zipAll(policies, null, None).map { case ((partition, info), policy) =>
      partition -> Offloads(OffloadLocations.find(policy, options.offloadLocation, options.offloadFormat), uuids(info))
    }.toMap
  }

  private def stored(partitions: Seq[String]): Seq[JsonNode] =
    answers.awaitAll(partitions, AtOnce)(p => s"Asking for what is stored of the ledgers of $p")(admin.internalInfo)

  private def uuids(info: JsonNode): Map[Long, String] = info
    .path("ledgers")
    .asScala
    .flatMap(l => Option(l.path("offloadedContextUuid").asText(null)).map(l.path("ledgerId").asLong -> _))
    .toMap

  /** Those of the topic, else of its namespace; not everybody who may read a topic may see them. */
  private def policiesOf(partition: String): Option[JsonNode] =
    Seq(TopicNames.offloadPolicies(partition), TopicNames.namespaceOffloadPolicies(partition)).to(LazyList).flatMap { resource =>
      try answers.await(s"Asking for the offload policies of $partition")(admin.find(resource)).filter(_.has("managedLedgerOffloadDriver"))
      catch {
        case NonFatal(e) =>
          log.info("{}: the admin service does not tell {}: {}", partition, resource, e.getMessage)
          None
      }
    }.headOption
}

private object LedgerLists {
  private val log = LoggerFactory.getLogger(classOf[LedgerLists])

  /** Questions under way at the same time. */
  private val AtOnce = 64
}
