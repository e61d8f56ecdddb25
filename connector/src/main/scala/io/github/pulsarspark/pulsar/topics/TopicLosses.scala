package io.github.pulsarspark.pulsar.topics

import java.time.Instant

import io.github.pulsarspark.errors.{Conditions, Occurrence}
import io.github.pulsarspark.position.Position

/** Chooses the condition `PULSAR_DATA_LOSS.*` for a topic that is deleted or ends early. Pure. */
private[pulsarspark] object TopicLosses {

  /** A partition that was read does not exist.
    *
    * @param partition
    *   the partition, or the topic if it has none
    * @param topicExists
    *   whether a partition of the same topic exists; None if that is not known
    */
  def deleted(partition: String, from: Position, to: String, topicExists: Option[Boolean] = None): Occurrence =
    if (topicExists.getOrElse(TopicNames.partitionIndex(partition) >= 0))
      Conditions.DataLossPartitionMissing(topic = partition, from = from.toString, to = to,
        reason = "the partition was deleted")
    else Conditions.DataLossTopicDeleted(topic = partition, from = from.toString, to = to,
      reason = "the topic was deleted")

  /** A partition that was read is of a topic that the options do not select. */
  def deselected(partition: String, from: Position, to: String): Occurrence =
    Conditions.DataLossTopicNotSelected(topic = partition, from = from.toString, to = to,
      reason = "the options no longer select the topic")

  /** The loss of a partition that was deleted and created again: the messages of the old one after `from`.
    *
    * @param first
    *   before the first message of the new one
    */
  def recreated(partition: String, from: Position, first: Position, created: Instant): Occurrence =
    Conditions.DataLossTopicRecreated(topic = partition, from = from.toString, to = first.toString,
      reason = s"the topic was deleted, and created again at $created")

  /** The loss of a topic that ends before the position read or planned. Ledger ids grow, so a topic that has only lower
    * ones is another one.
    */
  def endsBefore(partition: String, from: Position, to: String, end: Position): Occurrence =
    if (end.ledgerId < from.ledgerId)
      Conditions.DataLossTopicRecreated(topic = partition, from = from.toString, to = to,
        reason = s"the topic now ends at $end, in an older ledger")
    else Conditions.DataLossBeyondEnd(topic = partition, from = from.toString, to = to,
      reason = s"the topic now ends at $end")
}
