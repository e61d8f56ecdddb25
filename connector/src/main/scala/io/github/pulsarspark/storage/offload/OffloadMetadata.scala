package io.github.pulsarspark.storage.offload

import com.fasterxml.jackson.databind.JsonNode

import io.github.pulsarspark.options.ReadOptions
import io.github.pulsarspark.pulsar.topics.TopicNames
import io.github.pulsarspark.pulsar.admin.{JsonFields, LedgerSink}
import io.github.pulsarspark.storage.segment.LedgerMetadata
import io.github.pulsarspark.storage.offload.format.{OffloadLocation, OffloadPolicies}

/** Location of a topic partition's offloaded ledgers.
  *
  * @param uuids
  *   the id of each ledger's copy
  */
private[offload] final case class OffloadMetadata(location: Either[String, OffloadLocation], uuids: Map[Long, String])

private[offload] object OffloadMetadata {

  /** Requests it for partitions.
    *
    * @param ledgers
    *   the offloaded ledgers of each partition, some at least
    */
  def of(ledgers: Map[String, Set[Long]], options: ReadOptions, admin: LedgerMetadata): Map[String, OffloadMetadata] = {
    val partitions = ledgers.keys.toSeq
    val policies   =
      if (options.offloadLocation.isDefined && options.offloadFormat.isDefined) (_: String) => None
      else policiesOf(partitions, admin)
    admin.stored(partitions)(p => new UuidReader(ledgers(p))).map { case (partition, uuids) =>
      partition ->
        OffloadMetadata(OffloadLocations.find(policies(partition), options.offloadLocation, options.offloadFormat),
          uuids)
    }
  }

  /** Policies of a partition's topic, else of its namespace. Some users may read a topic but not its policies. */
  private def policiesOf(partitions: Seq[String], admin: LedgerMetadata): String => Option[JsonNode] = {
    def find(resources: Seq[String]) = admin.find(resources).filter(_._2.has(OffloadPolicies.Driver))
    val ofTopics                     = find(partitions.map(TopicNames.offloadPolicies))
    val missing                      = partitions.filterNot(p => ofTopics.contains(TopicNames.offloadPolicies(p)))
    val ofNamespaces                 = find(missing.map(TopicNames.namespaceOffloadPolicies))
    p => ofTopics.get(TopicNames.offloadPolicies(p)).orElse(ofNamespaces.get(TopicNames.namespaceOffloadPolicies(p)))
  }

  /** The id under which each ledger was offloaded. */
  private final class UuidReader(ledgers: Set[Long]) extends LedgerSink[Map[Long, String]] {
    private val uuids = Map.newBuilder[Long, String]

    override def ledger(fields: JsonFields): Unit = {
      val id = fields.long("ledgerId")
      if (ledgers(id)) fields.text("offloadedContextUuid").foreach(uuid => uuids += id -> uuid)
    }

    override def end(fields: JsonFields): Map[Long, String] = uuids.result()
  }
}
