package io.github.pulsarspark.format.entry

import io.netty.buffer.{ByteBufUtil, Unpooled}
import org.apache.pulsar.common.api.proto.{MessageMetadata, SingleMessageMetadata}

import io.github.pulsarspark.UnitSuite

/** The fields of messages in a batch, and of one that is alone: their own, or those of their entry. */
class MessageFieldsSuite extends UnitSuite {

  private val cursor = new ProtobufCursor
  private val view   = new MessageView
  private val fields = new MessageFields(view, cursor)

  private def bytes(metadata: MessageMetadata): Array[Byte] = {
    val buffer = Unpooled.directBuffer()
    metadata.setProducerName("p").setSequenceId(40).setPublishTime(1).writeTo(buffer)
    ByteBufUtil.getBytes(buffer)
  }

  private def entry(set: MessageMetadata => Any = identity): EntryMetadata = {
    val metadata = new MessageMetadata
    set(metadata)
    val (stored, result) = (bytes(metadata), new EntryMetadata(cursor))
    result.parse(stored, stored.length)
    result
  }

  /** Parses a message in a batch, in the middle of an array. */
  private def batched(entry: EntryMetadata)(set: SingleMessageMetadata => Any): Unit = {
    val single = new SingleMessageMetadata().setPayloadSize(3)
    set(single)
    val buffer = Unpooled.directBuffer().writeByte(7)
    single.writeTo(buffer)
    fields.parseBatched(entry, ByteBufUtil.getBytes(buffer.writeByte(7)), 1, buffer.readableBytes - 2)
  }

  private def key: Option[String] =
    Option.when(view.keyLength >= 0)(new String(view.keyBytes, view.keyOffset, view.keyLength))

  private def properties: Seq[String] = (0 until 2 * view.propertyCount).map { i =>
    val (from, length) = (view.propertyRanges(2 * i), view.propertyRanges(2 * i + 1))
    new String(view.propertyBytes, from, length)
  }

  private def malformed(problem: String)(body: => Any): Unit =
    assertEquals(intercept[MalformedBytes](body).getMessage, s"malformed metadata: $problem")

  test("a message in a batch has its own fields") {
    batched(entry(_.setEventTime(1))) { s =>
      s.setPartitionKey("k").setEventTime(9).setSequenceId(41).setOrderingKey(Array[Byte](5)).setNullValue(true)
      s.addProperty().setKey("a").setValue("1")
      s.addProperty().setKey("b").setValue("")
    }
    assertEquals((key, view.keyIsBytes, view.eventTime, view.sequenceId), (Some("k"), false, 9L, 41L))
    assertEquals((view.orderingKey.toSeq, view.valueIsNull, fields.payloadSize), (Seq[Byte](5), true, 3))
    assertEquals(properties, Seq("a", "1", "b", ""))
  }

  test("where it has none it has those of its entry, but not its key") {
    batched(entry(_.setEventTime(8).setDeliverAtTime(6).setNullValue(true).setPartitionKey("of the entry")))(identity)
    assertEquals((view.eventTime, view.deliverAtTime, view.sequenceId, view.valueIsNull), (8L, 6L, 40L, true))
    assertEquals((key, view.orderingKey, view.propertyCount), (None, null, 0))
  }

  test("a key that is said to be null is none, whichever of the two says so") {
    batched(entry())(_.setPartitionKey("k").setNullPartitionKey(true))
    assertEquals(key, None)
    batched(entry(_.setNullPartitionKey(true)))(_.setPartitionKey("k"))
    assertEquals(key, None)
    batched(entry(_.setNullPartitionKey(true)))(_.setPartitionKey("k").setNullPartitionKey(false))
    assertEquals(key, Some("k"))
  }

  test("a key in base64 is bytes; without base64 in it, an error unless compaction removed the message") {
    batched(entry())(_.setPartitionKey("AP8=").setPartitionKeyB64Encoded(true))
    assertEquals((view.keyIsBytes, view.keyBytes.toSeq, view.keyLength), (true, Seq[Byte](0, -1), 2))
    malformed("a key is marked as base64 but is not")(
      batched(entry())(_.setPartitionKey("?").setPartitionKeyB64Encoded(true))
    )
    batched(entry())(_.setPartitionKey("?").setPartitionKeyB64Encoded(true).setCompactedOut(true))
    assert(fields.isCompactedOut)
    batched(entry())(identity)
    assert(!fields.isCompactedOut, "of the message before")
  }

  test("a message in a batch without a valid size is an error") {
    malformed("a message in the batch has no valid payload size")(batched(entry())(_.setPayloadSize(-1)))
  }

  test("more properties than there was room for at first") {
    batched(entry())(s => (1 to 100).foreach(i => s.addProperty().setKey(s"k$i").setValue(s"v$i")))
    assertEquals((view.propertyCount, properties.take(2), properties.takeRight(2)),
      (100, Seq("k1", "v1"), Seq("k100", "v100")))
  }

  test("a property without a name or a value is an error") {
    def property(part: Byte*) = {
      val source = Array[Byte](10, part.size.toByte) ++ part
      fields.parseBatched(entry(), source ++ Array[Byte](24, 0), 0, source.length + 2)
    }
    property(10, 1, 'a', 18, 1, 'b')
    assertEquals(properties, Seq("a", "b"))
    Seq(Seq[Byte](10, 1, 'a'), Seq[Byte](18, 1, 'b'), Nil).foreach(part =>
      malformed("a property lacks its name or its value")(property(part: _*))
    )
  }

  test("a message that is alone has its fields in the metadata of its entry") {
    val metadata = new MessageMetadata().setPartitionKey("AP8=").setPartitionKeyB64Encoded(true).setEventTime(9)
    metadata.setOrderingKey(Array[Byte](5)).addProperty().setKey("a").setValue("1")
    val (stored, described) = (bytes(metadata), new EntryMetadata(cursor))
    described.parse(stored, stored.length)
    fields.parseSingle(described, stored, stored.length)
    assertEquals((view.keyIsBytes, view.keyBytes.toSeq, view.eventTime), (true, Seq[Byte](0, -1), 9L))
    assertEquals((view.orderingKey.toSeq, properties), (Seq[Byte](5), Seq("a", "1")))
  }
}
