package io.github.pulsarspark.format

import scala.jdk.CollectionConverters._

import io.netty.buffer.{ByteBuf, ByteBufUtil, Unpooled}
import org.apache.pulsar.common.api.proto.{BrokerEntryMetadata, CompressionType, MessageMetadata, SingleMessageMetadata}
import org.apache.pulsar.common.compression.CompressionCodecProvider
import org.apache.pulsar.common.protocol.Commands

/** One message as a producer gives it; `None` is a field that is not set. */
final case class Sent(
    value: Option[Seq[Byte]],
    key: Option[Sent.Key],
    properties: Seq[(String, String)],
    eventTime: Option[Long],
    sequenceId: Option[Long],
    orderingKey: Option[Seq[Byte]],
    isCompactedOut: Boolean
)

object Sent {
  sealed trait Key
  final case class Text(text: String)      extends Key
  final case class Bytes(bytes: Seq[Byte]) extends Key

  /** Said to be null, whatever key there is besides. */
  final case class Null(besides: Option[String]) extends Key

  def base64(bytes: Seq[Byte]): String = java.util.Base64.getEncoder.encodeToString(bytes.toArray)

  def text(value: String): Sent =
    Sent(Some(value.getBytes("UTF-8").toSeq), None, Nil, None, None, None, isCompactedOut = false)
}

/** An entry made by Pulsar's own code, as a broker would store it.
  *
  * @param batched
  *   false: exactly one message and no batch around it
  */
final case class StoredEntry(
    messages: Seq[Sent],
    batched: Boolean,
    compression: CompressionType = CompressionType.NONE,
    checksum: Boolean = true,
    brokerTime: Option[Long] = None,
    brokerIndex: Option[Long] = None,
    metadata: MessageMetadata => Unit = _ => ()
) {

  /** The entry in direct memory that no test gets back: for short ones. */
  def bytes: ByteBuf = Unpooled.directBuffer().writeBytes(array)

  def array: Array[Byte] = {
    val payload = if (batched) batch else Unpooled.directBuffer().writeBytes(messages.head.value.getOrElse(Nil).toArray)
    val packed  = CompressionCodecProvider.getCompressionCodec(compression).encode(payload)
    val described = new MessageMetadata().setProducerName("producer-ä").setSequenceId(40).setPublishTime(1700000000123L)
    if (compression != CompressionType.NONE)
      described.setCompression(compression).setUncompressedSize(payload.readableBytes)
    if (batched) described.setNumMessagesInBatch(messages.size) else describeOnly(described, messages.head)
    metadata(described)
    val kind  = if (checksum) Commands.ChecksumType.Crc32c else Commands.ChecksumType.None
    val entry = Commands.serializeMetadataAndPayload(kind, described, packed)
    val parts = Seq(brokerMetadata, entry)
    try Array.concat(parts.map(part => ByteBufUtil.getBytes(part)): _*)
    finally (packed +: payload +: parts).foreach(part => if (part.refCnt > 0) part.release())
  }

  private def brokerMetadata: ByteBuf = {
    val described = new BrokerEntryMetadata
    brokerTime.foreach(t => described.setBrokerTimestamp(t))
    brokerIndex.foreach(i => described.setIndex(i))
    val target = Unpooled.directBuffer()
    if (brokerTime.isDefined || brokerIndex.isDefined) {
      target.writeShort(Commands.magicBrokerEntryMetadata.toInt).writeInt(described.getSerializedSize)
      described.writeTo(target)
    }
    target
  }

  private def batch: ByteBuf =
    messages.foldLeft(Unpooled.directBuffer()) { (target, sent) =>
      val single = new SingleMessageMetadata
      sent.key.foreach {
        case Sent.Text(text)    => single.setPartitionKey(text).setPartitionKeyB64Encoded(false)
        case Sent.Bytes(bytes)  => single.setPartitionKey(Sent.base64(bytes)).setPartitionKeyB64Encoded(true)
        case Sent.Null(besides) => besides.foreach(single.setPartitionKey); single.setNullPartitionKey(true)
      }
      sent.properties.foreach { case (name, value) => single.addProperty().setKey(name).setValue(value) }
      sent.eventTime.foreach(t => single.setEventTime(t))
      sent.sequenceId.foreach(id => single.setSequenceId(id))
      sent.orderingKey.foreach(k => single.setOrderingKey(k.toArray))
      if (sent.value.isEmpty) single.setNullValue(true)
      if (sent.isCompactedOut) single.setCompactedOut(true)
      Commands.serializeSingleMessageInBatchWithPayload(single,
        Unpooled.wrappedBuffer(sent.value.getOrElse(Nil).toArray), target)
    }

  private def describeOnly(described: MessageMetadata, sent: Sent): Unit = {
    sent.key.foreach {
      case Sent.Text(text)    => described.setPartitionKey(text).setPartitionKeyB64Encoded(false)
      case Sent.Bytes(bytes)  => described.setPartitionKey(Sent.base64(bytes)).setPartitionKeyB64Encoded(true)
      case Sent.Null(besides) => besides.foreach(described.setPartitionKey); described.setNullPartitionKey(true)
    }
    described.addAllProperties(
      sent.properties.map { case (name, value) =>
        new org.apache.pulsar.common.api.proto.KeyValue().setKey(name).setValue(value)
      }.asJava
    )
    sent.eventTime.foreach(t => described.setEventTime(t))
    sent.sequenceId.foreach(id => described.setSequenceId(id))
    sent.orderingKey.foreach(k => described.setOrderingKey(k.toArray))
    if (sent.value.isEmpty) described.setNullValue(true)
  }
}
