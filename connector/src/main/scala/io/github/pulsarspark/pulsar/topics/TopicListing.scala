package io.github.pulsarspark.pulsar.topics

import java.util.regex.Pattern

import scala.collection.concurrent.TrieMap
import scala.jdk.CollectionConverters._

import org.apache.pulsar.common.lookup.GetTopicsResult
import org.apache.pulsar.common.naming.{NamespaceName, TopicName}

/** Lists the topics that match patterns. A request carries the hash of the last response, so that a broker returns
  * "unchanged" instead of a long list. Patterns are matched here, since brokers have rules of their own for them.
  *
  * @param request
  *   requests the topics of a namespace, with the hash of the last response or null
  * @param partitions
  *   requests the partitions of topics; those that do not exist are missing in the result
  */
private[pulsar] final class TopicListing(
    request: (NamespaceName, String) => GetTopicsResult,
    partitions: Seq[String] => Map[String, Seq[String]]
) {
  import TopicListing._

  private val last = TrieMap.empty[String, Answer]

  /** The topics that match `[tenant/namespace/]expression`; the same object as long as the broker reports no change. */
  def matching(pattern: String): MatchingTopics = {
    val (namespace, expression) = TopicNames.pattern(pattern)
    val before                  = last.get(pattern)
    val answer                  = request(namespace, before.map(_.hash).orNull)
    before.filterNot(_ => answer.isChanged).map(_.topics).getOrElse {
      val topics = selected(answer.getNonPartitionedOrPartitionTopics.asScala.toSeq, expression)
      Option(answer.getTopicsHash).fold(last.remove(pattern))(hash => last.put(pattern, Answer(hash, topics)))
      topics
    }
  }

  /** Full names of the topics of a namespace, for a list of them and not for reads. One request: topics that end in
    * `-partition-0`, `-partition-1` and so on without a gap are taken for the partitions of one. Only about others,
    * such as `-partition-0` alone, the broker is asked.
    */
  def names(namespace: String): Seq[String] = {
    val (space, every) = TopicNames.pattern(s"$namespace/.*")
    val listed         = request(space, null).getNonPartitionedOrPartitionTopics.asScala.toSeq
    TopicNames.matching(grouped(listed, isWhole).keys, every)
  }

  private def selected(listed: Seq[String], expression: Pattern): MatchingTopics = {
    val topics   = grouped(listed, _ => false)
    val matching = TopicNames.matching(topics.keys, expression).toSet
    MatchingTopics(topics.view.filterKeys(matching).mapValues(_.sorted).toMap,
      TopicNames.matching(topics.keys, ".*".r.pattern))
  }

  /** Groups listed names by topic. A list does not distinguish a partition from a topic that is named like one. A name
    * is a partition if its topic is not listed itself and has that many partitions.
    *
    * @param isProof
    *   whether names that may be the partitions of one topic are so without a request
    */
  private def grouped(listed: Seq[String], isProof: Seq[String] => Boolean): Map[String, Seq[String]] = {
    val names                 = listed.toSet
    def topicOf(name: String) = TopicName.get(name).getPartitionedTopicName
    val like                  = listed.filter(name => topicOf(name) != name && !names(topicOf(name)))
    val (proved, others)      = like.groupBy(topicOf).partition { case (_, parts) => isProof(parts) }
    val asked                 = others.values.flatten.toSet
    if (!asked.forall(known)) known ++= asked & partitions(others.keys.toSeq).values.flatten.toSet
    val ofProved = proved.values.flatten.toSet
    listed.groupBy(name => if (known(name) || ofProved(name)) topicOf(name) else name)
  }

  /** True for several partitions that begin with 0 and have no gap. */
  private def isWhole(parts: Seq[String]): Boolean =
    parts.size > 1 && parts.map(TopicNames.partitionIndex).sorted == parts.indices

  @volatile private var known = Set.empty[String] // partitions
}

private[pulsar] object TopicListing {
  private final case class Answer(hash: String, topics: MatchingTopics)
}
