package io.github.pulsarspark.pulsar.transactions

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.JsonNode
import org.slf4j.LoggerFactory

import io.github.pulsarspark.pulsar.admin.AdminApi
import io.github.pulsarspark.pulsar.topics.TopicNames

/** Targets of a sink that brokers replicate to other clusters. A replicator sends the messages of a transaction one by
  * one after its commit, and some of them again after a failure.
  */
private[pulsarspark] object ReplicatedTargets {
  private val log = LoggerFactory.getLogger(getClass)

  /** Warns of a replicated target as soon as the admin service answers.
    *
    * @param sink
    *   its id
    */
  def warn(admin: AdminApi, topic: String, sink: String): Unit =
    PolicyWarning(log, admin, TopicNames.policy(topic, "replication"), s"clusters of topic $topic")(several)(found =>
      log.warn(
        "Sink {} writes exactly once to topic {} in this cluster alone. Its clusters are {}: in the others, " +
          "readers see a part of an epoch before the rest, and may see rows twice",
        sink,
        topic,
        found
      )
    )

  /** Clusters that a topic is in, if there are several; else none. */
  private[transactions] def several(policy: JsonNode): Seq[String] = {
    val clusters = policy.elements.asScala.map(_.asText).toSeq.sorted
    if (clusters.size > 1) clusters else Nil
  }
}
