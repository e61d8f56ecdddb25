package io.github.pulsarspark.pulsar.producer

import java.util.concurrent.ThreadLocalRandom

import org.apache.pulsar.client.api.{HashingScheme, Message, MessageRouter, TopicMetadata}
import org.apache.pulsar.client.impl.RoundRobinPartitionMessageRouterImpl

/** Sends a message to the partition its row names, others as the client does: by their key, else by its routing mode.
  * The client calls it on the thread that sends.
  *
  * @param hashing
  *   of keys
  * @param isFixed
  *   whether rows without a key stay in one partition: routing mode `SinglePartition`
  * @param isRepeatable
  *   whether each run sends a row to the same partition: by its sequence id, else by its place among the task's rows
  */
private[pulsar] final class RowPartitionRouter(hashing: HashingScheme, isFixed: Boolean, isRepeatable: Boolean = false)
    extends MessageRouter {
  import RowPartitionRouter._

  private val start  = if (isRepeatable) 0 else ThreadLocalRandom.current.nextInt(Start)
  private var turn   = -1L
  private val others = new RoundRobinPartitionMessageRouterImpl(hashing, start, true, SwitchMillis)

  /** Partition of the message that is sent next; -1 to choose one by its key or the routing mode. */
  var next: Int = -1

  private var onChoice: Int => Unit = _ => ()

  /** Reports each partition to the task that has the producer now, before the message is sent there. */
  def enter(report: Int => Unit): Unit = onChoice = report

  override def choosePartition(message: Message[_], topic: TopicMetadata): Int = {
    val partition =
      if (next >= 0) next
      else if (isFixed && !message.hasKey) start % topic.numPartitions
      else if (isRepeatable && !message.hasKey) repeatable(message.getSequenceId, topic.numPartitions)
      else others.choosePartition(message, topic)
    onChoice(partition)
    partition
  }

  private def repeatable(sequenceId: Long, partitions: Int): Int = {
    turn += 1
    ((if (sequenceId >= 0) sequenceId else turn) % partitions).toInt
  }
}

private object RowPartitionRouter {
  private val Start = 1 << 16

  /** Time for which the client keeps to a partition so that batches fill: ten times its batching delay of 1 ms. */
  private val SwitchMillis = 10L
}
