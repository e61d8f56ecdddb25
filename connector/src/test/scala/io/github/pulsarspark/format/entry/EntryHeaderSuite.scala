package io.github.pulsarspark.format.entry

import io.netty.buffer.{ByteBuf, Unpooled}
import org.apache.pulsar.common.api.proto.MessageMetadata

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.format.{Sent, StoredEntry}

/** The part in front of a payload: one header that every entry overwrites. */
class EntryHeaderSuite extends UnitSuite {

  private val header   = new EntryHeader(new ProtobufCursor)
  private val metadata = header.metadata

  private def entry(
      batched: Boolean = false,
      checksum: Boolean = true,
      time: Option[Long] = None,
      index: Option[Long] = None
  )(described: MessageMetadata => Unit = _ => ()) =
    StoredEntry(Seq(Sent.text("value")), batched, checksum = checksum, brokerTime = time, brokerIndex = index,
      metadata = described)

  private def malformed(bytes: ByteBuf): String = intercept[MalformedBytes](header.read(bytes)).getMessage

  private def described(set: MessageMetadata => Unit) = header.read(entry()(set).bytes)

  for (checksum <- Seq(true, false); broker <- Seq(true, false))
    test(s"the place of the payload, checksum $checksum, metadata of the broker $broker") {
      val stored = entry(checksum = checksum, time = Option.when(broker)(5L), index = Option.when(broker)(6L))()
      val bytes  = Unpooled.directBuffer().writeByte(1).writeBytes(stored.array)
      bytes.readByte()
      header.read(bytes)
      assertEquals(new String(header.payload(bytes)), "value")
      assertEquals((bytes.readerIndex, header.entryLength), (1, stored.array.length))
      assertEquals((header.brokerTime, header.brokerIndex), if (broker) (5L, 6L) else (-1L, -1L))
    }

  test("what the broker added to one entry is not in the next one") {
    header.read(entry(time = Some(5), index = Some(6))().bytes)
    header.read(entry()().bytes)
    assertEquals((header.brokerTime, header.brokerIndex), (-1L, -1L))
  }

  test("no field of one entry is in the next one") {
    header.read(entry(batched = true) { m =>
      m.setReplicatedFrom("r").setSchemaVersion(Array[Byte](1)).setEventTime(2).setDeliverAtTime(3).setNullValue(true)
      m.setNullPartitionKey(true).setTxnidMostBits(4).setTxnidLeastBits(5).setMarkerType(1).setPartitionKey("k")
      m.addEncryptionKey().setKey("k").setValue(Array[Byte](1))
      ()
    }.bytes)
    assert(metadata.isReplicated && metadata.hasSchemaVersion && metadata.inTransaction && metadata.isMarker)
    assert(metadata.isEncrypted && metadata.isBatch && metadata.valueIsNull && metadata.partitionKeyIsNull)
    assert(metadata.hasMessageFields)
    assertEquals((metadata.eventTime, metadata.deliverAtTime), (2L, 3L))
    header.read(entry()().bytes)
    assert(!(metadata.isReplicated || metadata.hasSchemaVersion || metadata.inTransaction || metadata.isMarker))
    assert(!(metadata.isEncrypted || metadata.isBatch || metadata.valueIsNull || metadata.partitionKeyIsNull))
    assert(!metadata.hasMessageFields)
    assertEquals((metadata.eventTime, metadata.deliverAtTime, metadata.messages), (0L, 0L, 1))
    assertEquals((metadata.txnMostBits, metadata.txnLeastBits), (4L, 5L), "which nobody reads without a transaction")
  }

  test("a transaction has both halves of its id") {
    described { m => m.setTxnidMostBits(4); () }
    assert(!metadata.inTransaction)
    described { m => m.setTxnidMostBits(4).setTxnidLeastBits(-5); () }
    assertEquals((metadata.inTransaction, metadata.txnMostBits, metadata.txnLeastBits), (true, 4L, -5L))
  }

  test("a chunk knows its number and whether it is the last one") {
    described { m => m.setUuid("u").setNumChunksFromMsg(2).setChunkId(0); () }
    assertEquals((metadata.isChunk, metadata.isLastChunk, metadata.uuid.text), (true, false, "u"))
    described { m => m.setUuid("u").setNumChunksFromMsg(2).setChunkId(1); () }
    assert(metadata.isLastChunk)
  }

  test("claims that contradict each other are refused") {
    def refused(set: MessageMetadata => Unit) = malformed(entry()(set).bytes)
    assertEquals(refused { m => m.setNumMessagesInBatch(2); () }, "2 messages do not fit into 5 bytes")
    assertEquals(refused { m => m.setNumMessagesInBatch(-1); () }, "-1 messages do not fit into 5 bytes")
    assertEquals(refused { m => m.setUuid("u").setNumChunksFromMsg(2).setChunkId(2); () },
      "malformed metadata: it is chunk 2 of 2 of no message, or in a batch")
    assertEquals(refused { m => m.setNumChunksFromMsg(2).setChunkId(0); () },
      "malformed metadata: it is chunk 0 of 2 of no message, or in a batch")
  }

  test("an entry that is cut off anywhere in front of its payload is refused") {
    val whole = entry(time = Some(5))().array
    (0 until whole.length - "value".length).foreach { size =>
      val problem = malformed(Unpooled.wrappedBuffer(whole, 0, size))
      assert(Seq("it is cut off", "its checksum is", "malformed metadata").exists(problem.startsWith),
        s"$size: $problem")
    }
  }

  test("a checksum is compared in heap, direct and composite buffers") {
    val good = entry()().array
    val bad  = good.clone
    bad(bad.length - 1) = 'X'.toByte
    def buffers(bytes: Array[Byte]) = Seq(
      Unpooled.wrappedBuffer(bytes),
      Unpooled.directBuffer().writeBytes(bytes),
      Unpooled.wrappedBuffer(Unpooled.wrappedBuffer(bytes.take(9)), Unpooled.wrappedBuffer(bytes.drop(9)))
    )
    buffers(good).foreach(header.read)
    buffers(bad).foreach(b => assert(malformed(b).startsWith("its checksum is ")))
  }
}
