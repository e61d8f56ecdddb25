package io.github.pulsarspark.pulsar.transactions

import scala.collection.mutable

import org.apache.pulsar.client.api.{MessageId, MessageIdAdv, TypedMessageBuilder}
import org.apache.pulsar.client.impl.TypedMessageBuilderImpl
import org.apache.pulsar.common.api.proto.MessageMetadata

import io.github.pulsarspark.errors.Conditions

/** The transaction that a task attempt sends in. One thread uses it.
  *
  * @param startedAt
  *   milliseconds since 1970 at which it had not begun yet
  */
private[pulsarspark] final class TaskTransaction(
    coordinator: TransactionCoordinator,
    val id: TransactionId,
    val startedAt: Long
) {
  private val partitions = mutable.LinkedHashSet.empty[String]

  /** The topic partitions that have messages of it. */
  def registered: Seq[String] = partitions.toSeq

  /** Must precede the first message to a topic partition. Waits, so that messages keep their order. */
  def register(topicPartition: String): Unit =
    if (!partitions(topicPartition)) {
      coordinator.register(id, Seq(topicPartition))
      partitions += topicPartition
    }

  /** Puts a message, or a batch, into the transaction. */
  def stamp(metadata: MessageMetadata): Unit = {
    metadata.setTxnidMostBits(id.most).setTxnidLeastBits(id.least)
    ()
  }

  /** Puts a message into the transaction. */
  def stamp(message: TypedMessageBuilder[_]): Unit = message match {
    case builder: TypedMessageBuilderImpl[_] => stamp(builder.getMetadataBuilder)
    case other                               =>
      throw Conditions.Internal(what = s"unexpected message ${other.getClass.getName}",
        where = "TaskTransaction").exception
  }

  /** Whether a connection was lost since the transaction began, in which case messages may be stored twice in it.
    *
    * @param lastDisconnected
    *   of the producer, 0 for never
    */
  def mayRepeat(lastDisconnected: Long): Boolean = lastDisconnected > 0 && lastDisconnected >= startedAt - 1
}

private[pulsarspark] object TaskTransaction {

  /** Whether a broker acknowledged a message without storing it. */
  def isDropped(id: MessageId): Boolean = id match {
    case adv: MessageIdAdv => adv.getLedgerId < 0
    case _                 => false
  }
}
