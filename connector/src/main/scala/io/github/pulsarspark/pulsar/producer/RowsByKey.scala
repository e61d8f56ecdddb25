package io.github.pulsarspark.pulsar.producer

import java.nio.ByteBuffer

import scala.collection.mutable

import io.netty.buffer.ByteBuf
import org.apache.pulsar.common.allocator.PulsarByteBufAllocator
import org.apache.pulsar.common.api.proto.SingleMessageMetadata
import org.apache.pulsar.common.protocol.Commands

/** Parts a batch so that all rows of a part have one key, as the client's key-based batches do: brokers dispatch an
  * entry to the consumer of its first row's key.
  */
private[producer] object RowsByKey {

  /** @param rows
    *   of one key, in their order; the caller that takes the part releases them
    */
  final case class Part(rows: ByteBuf, messages: Int, lowestSequenceId: Long)

  private final case class Row(metadata: SingleMessageMetadata, payload: ByteBuf)

  /** The parts, in the order of their first rows, each made when it is taken. Rows get new ids, so that those of a part
    * follow those of the part before: a broker that deduplicates drops a batch that begins below the last id it has.
    *
    * @param batch
    *   each row as its metadata and its payload; the caller releases it, after the last part
    */
  def apply(batch: ByteBuf, messages: Int, lowestSequenceId: Long): Iterator[Part] = {
    val byKey = grouped(batch, messages)
    if (byKey.size == 1) Iterator(Part(batch.retain(), messages, lowestSequenceId))
    else {
      var next = lowestSequenceId
      byKey.iterator.map { rows =>
        val part = Part(numbered(rows, next), rows.size, next)
        next += rows.size
        part
      }
    }
  }

  private def grouped(batch: ByteBuf, messages: Int): Seq[collection.Seq[Row]] = {
    val byKey = mutable.LinkedHashMap.empty[Any, mutable.ArrayBuffer[Row]]
    val rest  = batch.slice()
    for (_ <- 0 until messages) {
      val metadata = new SingleMessageMetadata
      metadata.parseFrom(rest, rest.readInt())
      byKey.getOrElseUpdate(keyOf(metadata), mutable.ArrayBuffer.empty) +=
        Row(metadata, rest.readSlice(metadata.getPayloadSize))
    }
    byKey.values.toSeq
  }

  /** Key by which brokers dispatch: the ordering key, else the partition key. */
  private def keyOf(row: SingleMessageMetadata): Any =
    if (row.hasOrderingKey) ByteBuffer.wrap(row.getOrderingKey)
    else if (row.hasPartitionKey) row.getPartitionKey -> row.isPartitionKeyB64Encoded
    else None

  private def numbered(rows: collection.Seq[Row], lowestSequenceId: Long): ByteBuf = {
    val size   = rows.iterator.map(row => row.metadata.getSerializedSize + row.payload.readableBytes + ExtraBytes).sum
    val result = PulsarByteBufAllocator.DEFAULT.buffer(size)
    for ((row, i) <- rows.iterator.zipWithIndex) {
      row.metadata.setSequenceId(lowestSequenceId + i)
      Commands.serializeSingleMessageInBatchWithPayload(row.metadata, row.payload, result)
    }
    result
  }

  /** The length before the metadata, and a longer id. */
  private val ExtraBytes = 4 + 9
}
