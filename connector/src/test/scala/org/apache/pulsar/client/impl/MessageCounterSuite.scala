package org.apache.pulsar.client.impl

import io.netty.buffer.{ByteBuf, Unpooled}

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.format.{Sent, StoredEntry}

class MessageCounterSuite extends UnitSuite {

  test("an entry counts as the messages that it claims, and as one when it cannot be parsed") {
    val counter               = new MessageCounter
    def count(bytes: ByteBuf) = {
      val before = bytes.readableBytes
      val found  = counter.messagesIn(bytes)
      assertEquals(bytes.readableBytes, before, "it was consumed")
      found
    }
    val three = Seq("a", "b", "c").map(Sent.text)
    assertEquals(count(StoredEntry(three, batched = true).bytes), 3)
    assertEquals(count(StoredEntry(three, batched = true, brokerTime = Some(1L), brokerIndex = Some(9L)).bytes), 3)
    assertEquals(count(StoredEntry(three.take(1), batched = false, checksum = false).bytes), 1)
    assertEquals(count(StoredEntry(three, batched = true, metadata = _.setNumMessagesInBatch(0)).bytes), 1)
    assertEquals(count(Unpooled.wrappedBuffer(Array.fill[Byte](9)(-1))), 1)
    assertEquals(count(Unpooled.EMPTY_BUFFER), 1)
  }
}
