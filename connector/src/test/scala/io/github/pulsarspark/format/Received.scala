package io.github.pulsarspark.format

import java.util.Optional

import scala.jdk.CollectionConverters._

import io.netty.buffer.ByteBuf
import org.apache.pulsar.client.api.Schema
import org.apache.pulsar.client.impl.{BatchMessageIdImpl, MessageIdImpl, MessageImpl}
import org.apache.pulsar.common.api.proto.SingleMessageMetadata
import org.apache.pulsar.common.compression.CompressionCodecProvider
import org.apache.pulsar.common.protocol.Commands

import io.github.pulsarspark.format.entry.MessageView

/** Everything a reader learns about a message, for comparing the decoder with Pulsar's own client. */
final case class Received(
    batchIndex: Int,
    batchSize: Int,
    value: Option[Seq[Byte]],
    key: Option[Seq[Byte]],
    keyIsBytes: Boolean,
    orderingKey: Option[Seq[Byte]],
    properties: Map[String, String],
    eventTime: Long,
    deliverAtTime: Long,
    sequenceId: Long,
    publishTime: Long,
    producerName: String,
    schemaVersion: Seq[Byte],
    replicatedFrom: Option[String],
    index: Long,
    brokerPublishTime: Long
)

object Received {

  def byDecoder(
      decoder: EntryDecoder,
      entry: ByteBuf,
      afterIndex: Int = -1,
      lastIndex: Int = Int.MaxValue
  ): List[Received] = {
    decoder.open(3, 5, entry, afterIndex, lastIndex)
    val received = List.newBuilder[Received]
    while (decoder.next()) received += copyOf(decoder.message)
    received.result()
  }

  /** Fails for a range that is not inside its array, unlike `slice`. */
  private def range(bytes: Array[Byte], from: Int, length: Int): Seq[Byte] = {
    val copy = new Array[Byte](length)
    System.arraycopy(bytes, from, copy, 0, length)
    copy.toSeq
  }

  def copyOf(m: MessageView): Received = {
    def text(i: Int) = new String(m.propertyBytes, m.propertyRanges(i), m.propertyRanges(i + 1), "UTF-8")
    Received(
      m.batchIndex,
      m.batchSize,
      if (m.valueIsNull) None else Some(range(m.bytes, m.valueOffset, m.valueLength)),
      if (m.keyLength < 0) None else Some(range(m.keyBytes, m.keyOffset, m.keyLength)),
      m.keyLength >= 0 && m.keyIsBytes,
      Option(m.orderingKey).map(_.toSeq),
      (0 until m.propertyCount).map(i => text(4 * i) -> text(4 * i + 2)).toMap,
      m.eventTime,
      m.deliverAtTime,
      m.sequenceId,
      m.publishTime,
      m.producerName,
      m.schemaVersion.toSeq,
      Option(m.replicatedFrom),
      m.index,
      m.brokerPublishTime
    )
  }

  /** Messages that a Pulsar 4.2 consumer returns; `entry` is read to its end. */
  def byClient(entry: ByteBuf): List[Received] = {
    val broker = Commands.parseBrokerEntryMetadataIfExist(entry)
    if (Commands.hasChecksum(entry)) Commands.readChecksum(entry)
    val metadata = Commands.parseMessageMetadata(entry)
    val payload  =
      CompressionCodecProvider.getCompressionCodec(metadata.getCompression).decode(entry, metadata.getUncompressedSize)
    def copyOf(message: MessageImpl[Array[Byte]], batchIndex: Int, batchSize: Int): Received = {
      message.setBrokerEntryMetadata(broker)
      val key = Option(message.getKeyBytes).map(_.toSeq)
      Received(
        batchIndex,
        batchSize,
        Option(message.getData).map(_.toSeq),
        key,
        key.isDefined && message.hasBase64EncodedKey,
        Option(message.getOrderingKey).map(_.toSeq),
        message.getProperties.asScala.toMap,
        message.getEventTime,
        message.getDeliverAtTime,
        message.getSequenceId,
        message.getPublishTime,
        message.getProducerName,
        Option(message.getSchemaVersion).fold(Seq.empty[Byte])(_.toSeq),
        Option(message.getReplicatedFrom),
        message.getIndex.map[Long](i => i).orElse(-1L),
        message.getBrokerPublishTime.map[Long](t => t).orElse(-1L)
      )
    }
    if (metadata.hasNumMessagesInBatch) {
      val count = metadata.getNumMessagesInBatch
      (0 until count).toList.flatMap { i =>
        val single = new SingleMessageMetadata
        val value  = Commands.deSerializeSingleMessageInBatch(payload, single, i, count)
        val id     = new BatchMessageIdImpl(3, 5, -1, i, count, null)
        Option.when(!single.isCompactedOut) {
          copyOf(
            MessageImpl.create("t", id, metadata, single, value, Optional.empty(), null, Schema.BYTES, 0, false, 0),
            i,
            count
          )
        }
      }
    } else {
      val id = new MessageIdImpl(3, 5, -1)
      List(
        copyOf(MessageImpl.create("t", id, metadata, payload, Optional.empty(), null, Schema.BYTES, 0, false, 0), -1, 0)
      )
    }
  }
}
