package org.apache.pulsar.client.impl

import java.util.concurrent.{CountDownLatch, TimeUnit}

import io.netty.buffer.Unpooled
import org.scalacheck.Gen
import org.scalacheck.Prop.forAll

import io.github.pulsarspark.PropertySuite
import io.github.pulsarspark.pulsar.feed.EntryFeed.Entry
import io.github.pulsarspark.pulsar.feed.WaitingRoom

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
    assert(queue.reserve(5000))
    queue.add(entry(0, 1, 60))
    assert(queue.reserve(40))
    assert(!queue.reserve(41))
    assert(take(queue).isDefined)
    assert(queue.reserve(5000))
  }

  private val Empty = 16384L // bytes that an empty queue takes of a room; a byte of an entry takes two

  test("a queue that waits takes memory of the room for each entry, and gives all back when it leaves or ends") {
    val (room, queue) = (new WaitingRoom(Empty + 200), new EntryQueue(1000))
    queue.add(entry(0, 1, 60))
    assert(queue.waitIn(room))
    assertEquals(room.free, 80L)
    assert(!queue.reserve(41))
    assert(queue.reserve(40))
    queue.add(entry(1, 1, 40))
    assertEquals(room.free, 0L)
    queue.leaveRoom()
    queue.leaveRoom()
    assertEquals(room.free, Empty + 200)
    assert(queue.reserve(900), "a queue that is read again is bounded by its own limit")
    assert(queue.waitIn(room))
    queue.releaseAll()
    assertEquals(room.free, Empty + 200)
  }

  test("a queue for which there is no room does not wait in it") {
    val (room, queue) = (new WaitingRoom(Empty + 119), new EntryQueue(1000))
    queue.add(entry(0, 1, 60))
    assert(!queue.waitIn(room))
    queue.leaveRoom()
    assertEquals(room.free, Empty + 119)
  }

  test("queues that all fill at once hold no more than their room") {
    val most   = 1L << 20
    val room   = new WaitingRoom(most)
    val queues = Seq.fill(40)(new EntryQueue(1 << 20))
    assert(queues.forall(_.waitIn(room)))
    val start   = new CountDownLatch(1)
    val threads = queues.grouped(10).toSeq.map(mine =>
      new Thread(() => {
        start.await()
        for (turn <- 0 until 1000; queue <- mine)
          if (queue.reserve(100 + turn)) queue.add(entry(turn.toLong, 1, 100 + turn))
      })
    )
    threads.foreach(_.start())
    start.countDown()
    threads.foreach(_.join(60000))
    val held = queues.map(_.bytes * 2).sum + queues.size * Empty
    assert(held <= most && held > most - 4000, held)
    assertEquals(room.free, most - held)
    queues.foreach(_.releaseAll())
    assertEquals(room.free, most)
  }
}
