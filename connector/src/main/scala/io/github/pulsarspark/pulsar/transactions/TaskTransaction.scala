package io.github.pulsarspark.pulsar.transactions

import scala.collection.mutable

import org.apache.pulsar.client.api.{MessageId, MessageIdAdv, Producer, TypedMessageBuilder}
import org.apache.pulsar.client.impl.TypedMessageBuilderImpl
import org.apache.pulsar.common.api.proto.MessageMetadata

import io.github.pulsarspark.errors.Conditions

/** The transaction that a task attempt sends in. One thread uses it.
  *
  * @param recorded
  *   waits until the driver can know of it, before anything is sent
  */
private[pulsarspark] final class TaskTransaction(
    coordinator: TransactionCoordinator,
    val id: TransactionId,
    recorded: () => Unit
) {
  private val partitions = mutable.LinkedHashSet.empty[String]

  /** The topic partitions that may have messages of it. */
  def registered: Seq[String] = partitions.toSeq

  def isRegistered(topicPartition: String): Boolean = partitions(topicPartition)

  /** Registers a topic partition before the first message to it. Waits, so that messages keep their order. */
  def register(topicPartition: String): Unit = register(Seq(topicPartition))

  /** Like the other `register`, for several partitions by one request. */
  def register(topicPartitions: Seq[String]): Unit = {
    val added = topicPartitions.distinct.filterNot(partitions)
    if (added.nonEmpty) {
      coordinator.register(id, added)
      recorded()
      partitions ++= added
    }
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
}

private[pulsarspark] object TaskTransaction {

  /** Times at which topic partitions last lost their connection, by name; those that never did are not included. */
  type LostConnections = Set[(String, Long)]

  /** True if a connection was lost since `before`. The client then resends messages that may be stored, and nothing
    * deduplicates them within a transaction. Clocks may be set back, so times are only compared for equality.
    */
  def mayRepeat(before: LostConnections, now: LostConnections): Boolean = !now.subsetOf(before)

  def lostConnections(partitions: Iterable[Producer[_]]): LostConnections =
    partitions.map(p => p.getTopic -> p.getLastDisconnectedTimestamp).filter(_._2 != 0).toSet

  /** True if a broker acknowledged a message without storing it. */
  def isDropped(id: MessageId): Boolean = id match {
    case adv: MessageIdAdv => adv.getLedgerId < 0
    case _                 => false
  }
}
