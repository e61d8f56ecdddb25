package io.github.pulsarspark.pulsar.broker

import io.github.pulsarspark.position.{PartitionBounds, Position}
import io.github.pulsarspark.pulsar.topics.MatchingTopics
import io.github.pulsarspark.schema.TopicSchema

/** All requests to brokers, except those for entries. Each call waits for its response, at most `operationTimeoutMs`,
  * and fails with a named condition. The driver uses all of them; tasks request schemas and what precedes a range.
  */
private[pulsarspark] trait BrokerApi {

  /** Full names of the partitions of each topic; missing topics are skipped. */
  def partitions(topics: Seq[String]): Map[String, Seq[String]]

  /** The current topics that match `[tenant/namespace/]expression`; the same object as long as nothing changes. */
  def matching(pattern: String): MatchingTopics

  /** Full names of the topics of a namespace, for a list of them: one request, and one more for each topic whose
    * partitions have a gap or are only one. Names like those of partitions may be topics of their own nevertheless.
    */
  def names(namespace: String): Seq[String]

  /** Current first and last position of topic partitions, as brokers name them; missing partitions are skipped. */
  def bounds(partitions: Seq[String]): Map[String, PartitionBounds]

  /** Like `bounds`, but confirms each last position: nothing can be read after it, even where a transaction has just
    * ended. For callers that request bounds once.
    */
  def confirmedBounds(partitions: Seq[String]): Map[String, PartitionBounds]

  /** Like `bounds`, for all partitions of a stream at each trigger. A [[watch]]ed partition without new entries is not
    * requested each time, so its last message may be one that was published a moment ago.
    */
  def streamBounds(partitions: Seq[String]): Map[String, PartitionBounds]

  /** Watches from now on whether anything arrives after these positions, and no others, so that [[streamBounds]] can
    * report that nothing did.
    *
    * @param positions
    *   the ends of partitions, at which the stream stands
    * @param idle
    *   those of them for which a consumer may be opened
    */
  def watch(positions: Map[String, Position], idle: Set[String]): Unit

  /** Positions at which the broker places the cursor of a reader that starts after the given position, by partition;
    * missing partitions are skipped.
    */
  def readersAfter(positions: Map[String, Position]): Map[String, Position]

  /** Partitions that end before the given positions: they were deleted and created again, or belong to another cluster.
    */
  def endingBefore(positions: Map[String, Position]): Set[String]

  /** Positions before the first message published at the given time (milliseconds since 1970) or later, by partition.
    */
  def positionsBefore(times: Map[String, Long]): Map[String, Position]

  /** The newest schema of each topic that has one, with its version if the cluster reports it. */
  def schemas(topics: Seq[String]): Map[String, TopicSchema]

  /** The topic's newest schema; None when it has none. */
  final def schema(topic: String): Option[TopicSchema] = schemas(Seq(topic)).get(topic)

  /** The topic's schema of one version. */
  def schemaAt(topic: String, version: Array[Byte]): TopicSchema
}
