package io.github.pulsarspark.pulsar.feed

import java.util.concurrent.{CompletableFuture, TimeUnit}

import scala.collection.mutable

import io.netty.buffer.{ByteBuf, UnpooledByteBufAllocator}
import org.scalacheck.Gen
import org.scalacheck.Prop.forAll

import io.github.pulsarspark.PropertySuite

class PermitWindowSuite extends PropertySuite {

  private val Bytes    = 1L << 20
  private val Messages = 1000

  /** A broker that sends as much as it is allowed to before each entry that is taken. A batch may have more messages.
    *
    * @param batches
    *   messages of each entry
    */
  private final class Sending(sizes: Iterator[Int], batches: Iterator[Int] = Iterator.continually(1))
      extends EntryFeed {
    private val waiting  = mutable.Queue.empty[(Int, Int)]
    private var messages = 0
    private var bytes    = 0L
    private val shared   = UnpooledByteBufAllocator.DEFAULT.heapBuffer(8 << 20)
    val window           = new PermitWindow(Bytes, Messages)
    var permits          = window.first
    var mostWaiting      = 0L
    var grants           = 0

    /** The size of the next entry, when there is one.
      *
      * @param isRead
      *   whether it is read already, so that it is skipped
      */
    def take(isRead: Boolean = false): Option[Int] = {
      while (permits > 0 && sizes.hasNext) {
        val (size, batch) = (sizes.next(), batches.next())
        waiting += size -> batch
        messages += batch
        bytes += size
        permits -= batch
      }
      mostWaiting = math.max(mostWaiting, queuedBytes)
      Option.when(waiting.nonEmpty) {
        val (size, batch) = waiting.dequeue()
        messages -= batch
        bytes -= size
        val body: ByteBuf = shared.slice(0, size)
        val entry         = new EntryFeed.Entry(1, 1, batch, body, 1)
        if (isRead) window.refill(this, entry) else window.take(this, entry)
        size
      }
    }

    override def isUnbroken: Boolean                                = unused
    override def onArrival(listener: Runnable): Unit                = ()
    override def queuedMessages(): Int                              = messages
    override def queuedBytes(): Long                                = bytes
    override def grant(taken: EntryFeed.Entry, messages: Int): Unit = {
      assert(messages > 0)
      permits += messages
      grants += 1
    }
    override def session(): Int                                                        = 1
    override def newest(): PartitionFeed.Place                                         = unused
    override def bounds(): CompletableFuture[PartitionFeed.Bounds]                     = unused
    override def closeAsync(): CompletableFuture[Void]                                 = unused
    override def waitIn(room: WaitingRoom): Boolean                                    = unused
    override def leaveRoom(): Unit                                                     = unused
    override def resume(): Unit                                                        = unused
    override def isGone: Boolean                                                       = unused
    override def isConnected: Boolean                                                  = unused
    override def longestOutageMillis(): Long                                           = unused
    override def poll(time: Long, unit: TimeUnit): EntryFeed.Entry                     = unused
    override def gather(until: PartitionFeed.Place, messages: Int, millis: Long): Unit = unused
    private def unused: Nothing = throw new AssertionError("not used")
  }

  private def drained(sizes: Seq[Int], batches: Iterator[Int] = Iterator.continually(1)): Sending = {
    val feed = new Sending(sizes.iterator, batches)
    assertEquals(Iterator.continually(feed.take()).takeWhile(_.isDefined).size, sizes.size, "all of them arrive")
    feed
  }

  property("what waits and what may be on its way fit into the bytes, by the size of the messages") {
    forAll(Gen.choose(-(1L << 21), 1L << 21), Gen.choose(1L, 1L << 23), Gen.choose(0L, 2000L), Gen.choose(1L, 1000L)) {
      (room, size, waiting, most) =>
        val wanted = PermitWindow.wanted(room, size, waiting, most).toLong
        assert(wanted >= 1 && wanted <= most, wanted)
        assert(wanted == 1 || wanted <= waiting || (wanted - waiting) * size <= room, wanted)
    }
  }

  property("every message arrives, whatever the sizes of messages and of batches") {
    val size  = Gen.oneOf(10, 1000, 30000, 1 << 20, 5 << 20)
    val batch = Gen.oneOf(1, 7, 100, 5000)
    forAll(Gen.listOfN(40, Gen.zip(Gen.choose(1, 60), size, batch))) { runs =>
      val entries = runs.flatMap { case (count, size, batch) => Seq.fill(count)(size -> batch) }
      drained(entries.map(_._1), entries.iterator.map(_._2))
      ()
    }
  }

  for (size <- Seq(10, 1000, 30000, 1 << 20, 5 << 20))
    test(s"messages of $size bytes do not wait in more than the bound") {
      val feed = drained(Seq.fill(5000)(size))
      assert(feed.mostWaiting <= math.max(Bytes, 4L * size), feed.mostWaiting)
    }

  test("as many small messages are allowed as may be, in few grants") {
    val feed = drained(Seq.fill(100000)(100))
    assertEquals(feed.window.most, Messages)
    assert(feed.grants < 100000 / (Messages / 2) + 20, feed.grants)
  }

  test("large messages are forgotten when small ones follow, and small ones at once when large ones do") {
    assertEquals(drained(Seq.fill(100)(1 << 20) ++ Seq.fill(5000)(100)).window.most, Messages)
    val jump = new Sending((Seq.fill(1000000)(100) ++ Seq.fill(3000)(1 << 18)).iterator)
    (1 to 1000000 + 1100).foreach(_ => jump.take())
    assert(jump.window.most <= 5, jump.window.most)
  }

  test("a feed that is opened again begins with what fits") {
    val feed = drained(Seq.fill(100)(1 << 19))
    feed.window.restart()
    assertEquals(feed.window.first, 2)
    assertEquals(new PermitWindow(Bytes, Messages).first, 4)
    assertEquals(new PermitWindow(Bytes, 1).first, 1)
  }

  test("a feed in place of one that ended early is sent one message at a time until an entry is taken") {
    val feed = new Sending(Iterator.continually(100))
    feed.window.narrow()
    feed.window.restart()
    feed.permits = feed.window.first
    feed.take(isRead = true)
    assertEquals((feed.window.most, feed.permits), (1, 1))
    feed.take()
    assertEquals(feed.window.most, Messages)
  }

  test("a reader that waits gives its window back, down to what its tasks take, as messages arrive") {
    val feed = new Sending(Iterator.continually(10000), Iterator.continually(1))
    (1 to 200).foreach(_ => feed.take())
    assertEquals(feed.window.most, 104, "the whole read-ahead")
    val windows = (1 to 100).map { _ =>
      feed.window.rest()
      (1 to 3).foreach(_ => feed.take())
      feed.queuedMessages() + feed.permits
    }
    assert(windows.head > 50, windows)
    assert(windows.drop(40).forall(_ <= 12), windows)
  }

  test("a reader that waited gets its window again when much arrives") {
    val feed = new Sending(Iterator.continually(1000))
    (1 to 50).foreach { _ =>
      feed.window.rest()
      (1 to 60).foreach(_ => feed.take())
    }
    assert(feed.window.most <= 240, feed.window.most)
    val before = feed.grants
    (1 to 5000).foreach(_ => feed.take())
    assertEquals(feed.window.most, Messages)
    assert(feed.grants - before < 20, feed.grants - before)
  }
}
