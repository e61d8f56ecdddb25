package io.github.pulsarspark.pulsar.topics

import java.util.regex.Pattern

import scala.util.control.NonFatal

import org.apache.pulsar.common.naming.{NamespaceName, SystemTopicNames, TopicDomain, TopicName}

import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.options.TopicSelection
import io.github.pulsarspark.options.registry.ScalableTopics

/** Parses and builds names of topics, by Pulsar's own rules. */
private[pulsarspark] object TopicNames {

  /** Index of `...-partition-3`; -1 for a topic that is not partitioned. */
  def partitionIndex(topic: String): Int = TopicName.get(topic).getPartitionIndex

  /** `events` -> `persistent://public/default/events`. */
  def full(topic: String): String = {
    ScalableTopics.refuse(topic)
    val name =
      try TopicName.get(topic)
      catch {
        case NonFatal(e) => throw Conditions.TopicName(topic = topic, why = e.getMessage).causedBy(e)
      }
    if (name.getDomain != TopicDomain.persistent)
      throw Conditions.TopicName(topic = topic,
        why = s"${name.getDomain} topics are not read or written here; " +
          "those of the domain persistent are")
        .exception
    name.toString
  }

  /** The full name of a topic by its parts: `public`, `default`, `events` -> `persistent://public/default/events`. */
  def of(tenant: String, namespace: String, topic: String): String =
    if (Seq(tenant, namespace, topic).exists(_.contains('/')))
      throw Conditions.TopicName(topic = s"$tenant/$namespace/$topic",
        why = "a tenant, a namespace and a topic have one part each, without `/`").exception
    else full(s"persistent://$tenant/$namespace/$topic")

  /** The last part of a topic's name. */
  def local(topic: String): String = TopicName.get(topic).getLocalName

  /** The name of the managed ledger that stores a partition, as its ledgers carry it. */
  def managedLedger(partition: String): String = TopicName.get(partition).getPersistenceNamingEncoding

  /** The admin resource with the offload policies that hold for the topic of a partition. */
  def offloadPolicies(partition: String): String = policy(partition, "offloadPolicies")

  /** The admin resource with a policy that holds for the topic of a partition. */
  def policy(partition: String, name: String): String =
    s"v2/${TopicName.get(TopicName.get(partition).getPartitionedTopicName).getRestPath}/$name?applied=true"

  /** The admin resource with all versions of a topic's schema. */
  def schemas(topic: String): String =
    s"v2/schemas/${TopicName.get(whole(topic)).getRestPath.stripPrefix("persistent/")}/schemas"

  /** The admin resource with the statistics of a partition. */
  def statistics(partition: String): String =
    s"v2/${TopicName.get(partition).getRestPath}/stats?getPreciseBacklog=true"

  /** The admin resource with the ledgers and cursors of a partition. */
  def internalStatistics(partition: String): String = s"v2/${TopicName.get(partition).getRestPath}/internalStats"

  /** The admin resource with the offload policies of a partition's namespace. */
  def namespaceOffloadPolicies(partition: String): String =
    s"v2/namespaces/${TopicName.get(partition).getNamespace}/offloadPolicies"

  /** The partitions of a topic that has `count` of them; the topic itself for 0. */
  def partitions(topic: String, count: Int): Seq[String] =
    if (count == 0) Seq(topic) else (0 until count).map(partition(topic, _))

  /** `events` and 3 -> `persistent://public/default/events-partition-3`. */
  def partition(topic: String, index: Int): String = TopicName.get(topic).getPartition(index).toString

  /** The tenant and namespace of a topic. */
  def namespace(topic: String): String = TopicName.get(full(topic)).getNamespace

  /** Namespace and expression of `[persistent://]tenant/namespace/expression`, or of an expression alone in
    * `public/default`.
    */
  def pattern(text: String): (NamespaceName, Pattern) = text.stripPrefix("persistent://").split("/", 3) match {
    case Array(tenant, namespace, expression) =>
      try (NamespaceName.get(tenant, namespace), Pattern.compile(expression))
      catch {
        case NonFatal(e) =>
          throw Conditions.OptionInvalid(option = "topicsPattern", value = text,
            allowed = "tenant/namespace/expression").causedBy(e)
      }
    case Array(expression) => (NamespaceName.get("public", "default"), Pattern.compile(expression))
    case _                 => throw Conditions.OptionInvalid(option = "topicsPattern", value = text,
        allowed = "tenant/namespace/expression, or an expression alone").exception
  }

  /** True if a read of these topics reads the given one or a partition of it, now or once it exists. */
  def includes(selection: TopicSelection, topic: String): Boolean = {
    val one = whole(topic)
    selection match {
      case TopicSelection.Named(names)   => names.exists(whole(_) == one)
      case TopicSelection.Matching(text) =>
        val (namespace, expression) = pattern(text)
        TopicName.get(one).getNamespaceObject == namespace && matching(Seq(one), expression).nonEmpty
    }
  }

  /** The full name of the topic that `topic` is, or is a partition of. */
  def whole(topic: String): String = TopicName.get(full(topic)).getPartitionedTopicName

  /** The topics among `existing` whose own name matches as a whole. Pulsar's internal ones never do. Control topics of
    * sinks and those of checkpoint stores do only when the expression names them.
    */
  def matching(existing: Iterable[String], pattern: Pattern): Seq[String] = {
    val takesControl    = pattern.pattern.contains(SinkTopicNames.Prefix)
    val takesCheckpoint = pattern.pattern.contains(CheckpointTopicNames.Prefix)
    existing.iterator
      .map(TopicName.get)
      .filterNot(SystemTopicNames.isSystemTopic)
      .filter(t => takesControl || !SinkTopicNames.includes(t.getLocalName))
      .filter(t => takesCheckpoint || !t.getLocalName.startsWith(CheckpointTopicNames.Prefix))
      .filter(t => pattern.matcher(t.getLocalName).matches)
      .map(_.toString)
      .toSeq
      .sorted
  }
}
