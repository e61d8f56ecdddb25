package io.github.pulsarspark.pulsar.producer

import java.nio.charset.StandardCharsets.UTF_8
import java.util.{HashMap => JHashMap}

import scala.jdk.CollectionConverters._

import io.netty.buffer.Unpooled
import org.apache.pulsar.common.api.proto.SingleMessageMetadata
import org.apache.pulsar.common.protocol.Commands
import org.scalacheck.Gen
import org.scalacheck.Prop.forAll

import io.github.pulsarspark.PropertySuite
import io.github.pulsarspark.schema.columns.OutgoingMessage

class BatchedMetadataSuite extends PropertySuite(250) {

  private val bytes =
    Gen.choose(0, 700).flatMap(Gen.containerOfN[Array, Byte](_, Gen.choose(Byte.MinValue, Byte.MaxValue)))
  private val texts = Gen.oneOf(Gen.alphaNumStr, Gen.stringOf(Gen.oneOf('ä', '\u20ac', 'x')), Gen.const("\ud83d\ude00"))

  private val messages: Gen[OutgoingMessage] =
    for {
      value       <- Gen.option(bytes)
      key         <- Gen.option(Gen.either(texts, bytes))
      eventTime   <- Gen.oneOf(Gen.const(0L), Gen.choose(1L, Long.MaxValue))
      ordering    <- Gen.option(bytes)
      properties  <- Gen.option(Gen.mapOf(Gen.zip(texts, texts)))
      isReference <- Gen.oneOf(true, false)
    } yield {
      val result = new OutgoingMessage
      value.fold(result.payload.set(null)) { all =>
        if (isReference) result.payload.refer(Array[Byte](1, 2) ++ all ++ Array[Byte](3), 2, all.length)
        else result.payload.set(all)
      }
      key.foreach { one =>
        result.key = one.fold(_.getBytes(UTF_8), identity)
        result.keyIsBytes = one.isRight
      }
      result.eventTime = eventTime
      result.orderingKey = ordering.orNull
      properties.foreach(all => result.properties = new JHashMap(all.asJava))
      result
    }

  property("the client reads from a batch what was written into it") {
    val metadata = new BatchedMetadata
    forAll(Gen.nonEmptyListOf(messages), Gen.choose(0L, Long.MaxValue - 200)) { (all, firstId) =>
      val batch = Unpooled.buffer()
      all.zipWithIndex.foreach { case (message, i) =>
        metadata.set(message, MessageKey.of(message), firstId + i)
        batch.writeBytes(metadata.array, 0, metadata.length)
        if (message.payload.length > 0)
          batch.writeBytes(message.payload.array, message.payload.offset, message.payload.length)
      }
      all.zipWithIndex.foreach { case (message, i) =>
        val read    = new SingleMessageMetadata
        val payload = Commands.deSerializeSingleMessageInBatch(batch, read, i, all.size)
        val found   = new Array[Byte](payload.readableBytes)
        payload.readBytes(found)
        assertEquals(found.toSeq, Option(message.value).toSeq.flatMap(_.toSeq))
        assertEquals(read.isNullValue, message.value == null)
        assertEquals(read.getSequenceId, firstId + i)
        assertEquals(read.hasPartitionKey, message.key != null)
        if (message.key != null) {
          assertEquals(read.isPartitionKeyB64Encoded, message.keyIsBytes)
          val key = read.getPartitionKey
          assertEquals(
            (if (message.keyIsBytes) java.util.Base64.getDecoder.decode(key) else key.getBytes(UTF_8)).toSeq,
            message.key.toSeq
          )
        }
        assertEquals(if (read.hasEventTime) read.getEventTime else 0L, message.eventTime)
        assertEquals(Option.when(read.hasOrderingKey)(read.getOrderingKey.toSeq),
          Option(message.orderingKey).map(_.toSeq))
        assertEquals(
          read.getPropertiesList.asScala.map(one => one.getKey -> one.getValue).toMap,
          Option(message.properties).fold(Map.empty[String, String])(_.asScala.toMap)
        )
      }
      assertEquals(batch.readableBytes, 0)
    }
  }
}
