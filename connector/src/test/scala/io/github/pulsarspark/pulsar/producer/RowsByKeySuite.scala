package io.github.pulsarspark.pulsar.producer

import java.nio.charset.StandardCharsets.UTF_8

import io.netty.buffer.{ByteBuf, Unpooled}
import org.apache.pulsar.common.api.proto.SingleMessageMetadata
import org.apache.pulsar.common.protocol.Commands
import org.scalacheck.Gen
import org.scalacheck.Prop.forAll

import io.github.pulsarspark.PropertySuite
import io.github.pulsarspark.schema.columns.OutgoingMessage

class RowsByKeySuite extends PropertySuite {
  import RowsByKeySuite._

  private val texts = Gen.option(Gen.oneOf("a", "b", "", "ü"))
  private val rows  = for {
    key      <- texts
    isBytes  <- Gen.oneOf(true, false)
    ordering <- Gen.frequency(4 -> Gen.const(Option.empty[String]), 1 -> texts)
    value    <- Gen.alphaNumStr
  } yield Sent(key, isBytes && key.isDefined, ordering, value)

  private def batch(rows: Seq[Sent], firstId: Long): ByteBuf = {
    val result   = Unpooled.buffer()
    val metadata = new BatchedMetadata
    rows.zipWithIndex.foreach { case (row, i) =>
      val message = new OutgoingMessage
      message.key = row.key.map(_.getBytes(UTF_8)).orNull
      message.keyIsBytes = row.isBytes
      message.orderingKey = row.ordering.map(_.getBytes(UTF_8)).orNull
      message.value = row.value.getBytes(UTF_8)
      metadata.set(message, MessageKey.of(message), firstId + i)
      result.writeBytes(metadata.array, 0, metadata.length)
      result.writeBytes(message.payload.array, message.payload.offset, message.payload.length)
    }
    result
  }

  private def read(part: RowsByKey.Part): Seq[(Sent, Long)] = (0 until part.messages).map { i =>
    val metadata = new SingleMessageMetadata
    val payload  = Commands.deSerializeSingleMessageInBatch(part.rows, metadata, i, part.messages)
    val isBytes  = metadata.isPartitionKeyB64Encoded
    val key      = Option.when(metadata.hasPartitionKey)(metadata.getPartitionKey).map(text =>
      if (isBytes) new String(java.util.Base64.getDecoder.decode(text), UTF_8) else text
    )
    val ordering = Option.when(metadata.hasOrderingKey)(new String(metadata.getOrderingKey, UTF_8))
    try Sent(key, isBytes, ordering, payload.toString(UTF_8)) -> metadata.getSequenceId
    finally { payload.release(); () }
  }

  property("a part has the rows of one key in their order, and ids follow each other over all parts") {
    forAll(Gen.nonEmptyListOf(rows), Gen.choose(0L, 1L << 40)) { (all, firstId) =>
      val whole = batch(all, firstId)
      val parts = RowsByKey(whole, all.size, firstId).map { part =>
        val found = read(part)
        assertEquals(found.head._2, part.lowestSequenceId)
        assertEquals(part.rows.readableBytes, 0)
        part.rows.release()
        found
      }.toSeq
      assertEquals(parts.flatten.map(_._2), firstId until firstId + all.size)
      assertEquals(parts.map(_.map(_._1)), all.map(_.bound).distinct.map(key => all.filter(_.bound == key)))
      assertEquals(whole.refCnt, 1)
      whole.release()
    }
  }
}

private object RowsByKeySuite {
  private final case class Sent(key: Option[String], isBytes: Boolean, ordering: Option[String], value: String) {
    def bound: Any = ordering.map(_ -> "ordering").orElse(key.map(_ -> isBytes))
  }
}
