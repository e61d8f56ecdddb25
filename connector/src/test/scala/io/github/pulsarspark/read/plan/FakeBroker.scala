package io.github.pulsarspark.read.plan

import io.github.pulsarspark.position.{PartitionBounds, Position}
import io.github.pulsarspark.pulsar.broker.BrokerApi
import io.github.pulsarspark.pulsar.topics.MatchingTopics
import io.github.pulsarspark.schema.TopicSchema

/** A cluster that answers from memory.
  *
  * @param readers
  *   where readers begin whatever position they are given
  */
private[read] final class FakeBroker(
    topics: Map[String, Seq[String]],
    positions: Map[String, PartitionBounds],
    before: Map[String, Long => Position] = Map.empty,
    newest: Map[String, TopicSchema] = Map.empty,
    readers: Map[String, Position] = Map.empty
) extends BrokerApi {

  /** The topics of each request for schemas. */
  var requested = Seq.empty[Seq[String]]

  override def partitions(names: Seq[String]): Map[String, Seq[String]] = topics.filter { case (t, _) =>
    names.exists(t.endsWith)
  }
  override def matching(pattern: String): MatchingTopics = MatchingTopics(topics, topics.keys.toSeq.sorted)
  override def names(namespace: String): Seq[String]     = topics.keys.toSeq.sorted
  override def bounds(partitions: Seq[String]): Map[String, PartitionBounds] =
    partitions.flatMap(p => positions.get(p).map(p -> _)).toMap
  override def confirmedBounds(partitions: Seq[String]): Map[String, PartitionBounds] = bounds(partitions)
  override def streamBounds(partitions: Seq[String]): Map[String, PartitionBounds]    = bounds(partitions)
  override def positionsBefore(times: Map[String, Long]): Map[String, Position]       = times.map { case (p, t) =>
    p -> before(p)(t)
  }
  override def watch(positions: Map[String, Position], idle: Set[String]): Unit      = ()
  override def readersAfter(positions: Map[String, Position]): Map[String, Position] = positions.map { case (p, at) =>
    p -> readers.getOrElse(p, at)
  }
  override def endingBefore(positions: Map[String, Position]): Set[String] = Set.empty
  override def schemas(topics: Seq[String]): Map[String, TopicSchema]      = {
    requested :+= topics; newest.view.filterKeys(topics.toSet).toMap
  }
  override def schemaAt(topic: String, version: Array[Byte]): TopicSchema = fail("not requested")
  private def fail(why: String)                                           = throw new AssertionError(why)
}
