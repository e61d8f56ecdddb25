package io.github.pulsarspark.inspect.topics

import scala.jdk.CollectionConverters._

import org.slf4j.LoggerFactory

import io.github.pulsarspark.errors.PulsarError
import io.github.pulsarspark.options.ClientOptions
import io.github.pulsarspark.pulsar.admin.AdminApi
import io.github.pulsarspark.pulsar.connection.ClusterCalls
import io.github.pulsarspark.pulsar.topics.TopicNames

/** Topics that have partitions by their metadata, also if none of them exists: brokers delete idle ones. The lists of
  * brokers have existing partitions alone.
  */
private[pulsarspark] object PartitionedTopics {

  private val log = LoggerFactory.getLogger(getClass)

  /** Full names of those that match a pattern; none, with a warning in the log, where the service does not list them.
    *
    * @param pattern
    *   `tenant/namespace/expression`
    */
  def matching(pattern: String, client: ClientOptions, admin: AdminApi): Seq[String] = {
    val (namespace, expression) = TopicNames.pattern(pattern)
    val calls                   = new ClusterCalls(client, admin.url)
    try {
      val answer = calls.ask(s"Listing the partitioned topics of $namespace")(() =>
        admin.find(s"v2/persistent/$namespace/partitioned")
      )
      TopicNames.matching(answer.toSeq.flatMap(_.elements().asScala.map(_.asText)), expression)
    } catch {
      case e: PulsarError =>
        log.warn("Topics of {} without any existing partition are not listed: {}", namespace, e.getMessage)
        Nil
    }
  }
}
