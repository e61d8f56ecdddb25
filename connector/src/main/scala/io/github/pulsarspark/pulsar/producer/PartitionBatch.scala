package io.github.pulsarspark.pulsar.producer

import java.util.function.Consumer

import io.netty.buffer.ByteBuf
import org.apache.pulsar.client.impl.{ProducerImpl, WholeBatch}
import org.apache.pulsar.common.allocator.PulsarByteBufAllocator
import org.apache.pulsar.common.api.proto.MessageMetadata

import io.github.pulsarspark.pulsar.transactions.TaskTransaction
import io.github.pulsarspark.schema.columns.EncodedValue

/** The batch of one partition that is being filled, in a pooled buffer. One thread uses it.
  *
  * @param producer
  *   of the partition
  * @param register
  *   registers the partition in the transaction, before the first batch
  * @param isByKey
  *   sends the rows of each key as a batch of their own
  */
private[producer] final class PartitionBatch(
    producer: ProducerImpl[Array[Byte]],
    acknowledgements: Acknowledgements,
    transaction: Option[TaskTransaction],
    register: PartitionBatch => Unit,
    isByKey: Boolean
) {
  import PartitionBatch._

  private val limits = BatchLimits(producer.getConfiguration, producer.getConnectionHandler.getMaxMessageSize)

  /** Null without a transaction. */
  private val stamp: Consumer[MessageMetadata] = transaction.fold[Consumer[MessageMetadata]](null) { t => metadata =>
    register(this)
    t.stamp(metadata)
  }

  private var buffer: ByteBuf = _
  private var messages        = 0
  private var opened          = 0L
  private var capacity        = SmallestBuffer
  private var followingId     = WholeBatch.nextSequenceId(producer)

  /** Full name of the topic partition. */
  def topicPartition: String = producer.getTopic

  def isEmpty: Boolean = messages == 0

  /** Sequence id of the next message. */
  def nextSequenceId: Long = followingId

  /** Time at which the first message was added. */
  def openedAt: Long = opened

  /** True if the message may be added. An empty batch accepts a message of any size. */
  def fits(metadata: BatchedMetadata, value: EncodedValue): Boolean =
    messages == 0 || buffer.writerIndex() + metadata.length + value.length <= limits.bytes

  /** Adds a message that fits. Sends the batch if it is full then.
    *
    * @param now
    *   the time by `System.nanoTime`
    */
  def add(metadata: BatchedMetadata, value: EncodedValue, now: Long): Unit = {
    if (messages == 0) {
      buffer = PulsarByteBufAllocator.DEFAULT.buffer(Math.max(capacity, metadata.length + value.length))
      opened = now
    }
    buffer.writeBytes(metadata.array, 0, metadata.length)
    if (value.length > 0) buffer.writeBytes(value.array, value.offset, value.length)
    messages += 1
    followingId += 1
    if (messages >= limits.messages || buffer.writerIndex() >= limits.bytes) send()
  }

  /** Sends the batch. */
  def send(): Unit = if (messages > 0) {
    val (full, count) = (buffer, messages)
    capacity = Math.max(SmallestBuffer, Math.min(limits.bytes, full.writerIndex() + full.writerIndex() / 16))
    buffer = null
    messages = 0
    val lowestId = followingId - count
    if (!isByKey) hand(full, count, lowestId)
    else
      try RowsByKey(full, count, lowestId).foreach(part => hand(part.rows, part.messages, part.lowestSequenceId))
      finally { full.release(); () }
  }

  private def hand(rows: ByteBuf, count: Int, lowestId: Long): Unit =
    acknowledgements.await(count, WholeBatch.send(producer, rows, count, lowestId, stamp))

  /** Discards the batch. */
  def discard(): Unit = if (messages > 0) {
    buffer.release()
    buffer = null
    messages = 0
  }
}

private object PartitionBatch {
  private val SmallestBuffer = 1024
}
