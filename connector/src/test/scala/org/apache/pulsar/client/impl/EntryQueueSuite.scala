package org.apache.pulsar.client.impl

import java.util.concurrent.TimeUnit

import io.netty.buffer.Unpooled
import org.scalacheck.Gen
import org.scalacheck.Prop.forAll

import io.github.pulsarspark.PropertySuite
import io.github.pulsarspark.pulsar.feed.EntryFeed.Entry

class EntryQueueSuite extends PropertySuite {

  private def entry(id: Long, messages: Int, bytes: Int): Entry =
    new Entry(7, id, messages, Unpooled.wrappedBuffer(new Array[Byte](bytes)), 1)

  private def take(queue: EntryQueue): Option[Entry] = Option(queue.poll(0, TimeUnit.MILLISECONDS))

  property("entries come out in order, are counted while they wait, and are released with the queue") {
    forAll(Gen.listOf(Gen.zip(Gen.choose(1, 50), Gen.choose(1, 300))), Gen.choose(0, 20)) { (sizes, taken) =>
      val queue   = new EntryQueue(1000)
      val entries = sizes.zipWithIndex.map { case ((messages, bytes), id) => entry(id.toLong, messages, bytes) }
      entries.foreach(queue.add)
      val first = List.fill(taken)(take(queue)).flatten
      val rest  = entries.drop(taken)
      assertEquals(first.map(_.entryId), entries.take(taken).map(_.entryId))
      assertEquals(queue.messages, rest.map(_.messages).sum)
      assertEquals(queue.bytes, rest.map(_.buffer.readableBytes.toLong).sum)
      queue.releaseAll()
      assertEquals((queue.messages, queue.bytes, take(queue)), (0, 0L, None))
      assert(rest.forall(_.buffer.refCnt == 0) && first.forall(_.buffer.refCnt == 1))
    }
  }

  test("an empty queue has room for any entry, another one for what fits") {
    val queue = new EntryQueue(100)
    assert(queue.hasRoomFor(5000))
    queue.add(entry(0, 1, 60))
    assert(queue.hasRoomFor(40))
    assert(!queue.hasRoomFor(41))
    assert(take(queue).isDefined)
    assert(queue.hasRoomFor(5000))
  }
}
