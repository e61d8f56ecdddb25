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
  */
private[pulsar] final class RowPartitionRouter(hashing: HashingScheme, isFixed: Boolean) extends MessageRouter {
  import RowPartitionRouter._

  private val start  = ThreadLocalRandom.current.nextInt(Start)
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
      else others.choosePartition(message, topic)
    onChoice(partition)
    partition
  }
}

private object RowPartitionRouter {
  private val Start = 1 << 16

  /** Time for which the client keeps to a partition so that batches fill: ten times its batching delay of 1 ms. */
  private val SwitchMillis = 10L
}
