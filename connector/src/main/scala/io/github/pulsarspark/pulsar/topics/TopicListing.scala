package io.github.pulsarspark.pulsar.topics

import scala.collection.concurrent.TrieMap
import scala.jdk.CollectionConverters._

import org.apache.pulsar.common.lookup.GetTopicsResult
import org.apache.pulsar.common.naming.{NamespaceName, TopicName}

/** Lists the topics that match patterns. A request carries the hash of the last answer, so that a broker answers
  * "unchanged" instead of a long list. Patterns are matched here, since brokers have rules of their own for them.
  *
  * @param request
  *   requests the topics of a namespace, with the hash of the last answer or null
  */
private[pulsar] final class TopicListing(request: (NamespaceName, String) => GetTopicsResult) {
  import TopicListing._

  private val last = TrieMap.empty[String, Answer]

  /** The topics that match `[tenant/namespace/]expression`; the same object as long as the broker reports no change. */
  def matching(pattern: String): MatchingTopics = {
    val (namespace, expression) = TopicNames.pattern(pattern)
    val before                  = last.get(pattern)
    val answer                  = request(namespace, before.map(_.hash).orNull)
    before.filterNot(_ => answer.isChanged).map(_.topics).getOrElse {
      val topics = group(answer.getNonPartitionedOrPartitionTopics.asScala.toSeq, expression)
      Option(answer.getTopicsHash).fold(last.remove(pattern))(hash => last.put(pattern, Answer(hash, topics)))
      topics
    }
  }
}

private[pulsar] object TopicListing {
  private final case class Answer(hash: String, topics: MatchingTopics)

  private def group(existing: Seq[String], expression: java.util.regex.Pattern): MatchingTopics = {
    val matching = TopicNames.matching(existing, expression).toSet
    MatchingTopics(
      existing.groupBy(t => TopicName.get(t).getPartitionedTopicName).view.filterKeys(matching).mapValues(
        _.sorted
      ).toMap,
      TopicNames.matching(existing, ".*".r.pattern)
    )
  }
}
