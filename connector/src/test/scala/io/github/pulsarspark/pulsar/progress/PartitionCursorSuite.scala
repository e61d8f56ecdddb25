package io.github.pulsarspark.pulsar.progress

import java.util.concurrent.CompletableFuture

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.position.Position
import io.github.pulsarspark.pulsar.feed.PendingFeed

/** Acknowledgements in one topic partition: when they are sent, sent again, and given up. */
class PartitionCursorSuite extends UnitSuite {

  private val begin         = Position(5, -1)
  private val (one, two)    = (Position(5, 3), Position(5, 4))
  private val refused       = CompletableFuture.failedFuture[Void](new IllegalStateException("refused"))
  private val accepted      = CompletableFuture.completedFuture[Void](null)
  private def receiptToCome = new CompletableFuture[Void]

  private def opened(isFollowed: Boolean = false): (PartitionCursor, FakeFeed) = {
    val feed   = new FakeFeed(begin)
    val cursor = new PartitionCursor(new PendingFeed(CompletableFuture.completedFuture[FakeFeed](feed)), isFollowed)
    cursor.opened(feed, begin)
    (cursor, feed)
  }

  test("before it is open, a cursor acknowledges nothing and has nothing") {
    val cursor = new PartitionCursor(new PendingFeed(new CompletableFuture[FakeFeed]), isFollowed = true)
    cursor.acknowledge(one)
    cursor.awaitNext()
    assertEquals((cursor.feed, cursor.acknowledged, cursor.beganBy(one), cursor.hasKept(one)),
      (None, None, false, false))
    assert(cursor.isReceived && cursor.awaitReceipt(0))
  }

  test("a position is acknowledged once, and the cursor never moves back") {
    val (cursor, feed) = opened()
    Seq(one, one, begin, two, one).foreach(cursor.acknowledge)
    assertEquals(feed.acknowledged.toSeq, Seq(one, two))
    assertEquals(cursor.acknowledged, Some(two))
  }

  test("a position is acknowledged again in another session of the broker, or after a refusal") {
    val (cursor, feed) = opened()
    cursor.acknowledge(one)
    feed.number += 1
    cursor.acknowledge(one)
    cursor.acknowledge(one)
    assertEquals(feed.acknowledged.toSeq, Seq(one, one))
    feed.receipt = refused
    cursor.acknowledge(two)
    feed.receipt = accepted
    cursor.acknowledge(two)
    cursor.acknowledge(two)
    assertEquals(feed.acknowledged.toSeq, Seq(one, one, two, two))
  }

  test("a receipt: none yet, a failure, or there") {
    val (cursor, feed) = opened()
    val coming         = receiptToCome
    feed.receipt = coming
    cursor.acknowledge(one)
    assertEquals((cursor.isReceived, cursor.failure, cursor.awaitReceipt(1)), (false, None, false))
    coming.complete(null)
    assert(cursor.isReceived && cursor.awaitReceipt(-1))
    feed.receipt = refused
    cursor.acknowledge(two)
    assertEquals((cursor.isReceived, cursor.awaitReceipt(1000), cursor.failure.isDefined), (false, false, true))
  }

  test("a consumer is stuck after three failures in a row, while it is connected, in one session") {
    val (cursor, feed) = opened()
    feed.receipt = refused
    def again(times: Int): Boolean = {
      (1 to times).foreach(_ => cursor.acknowledge(one))
      cursor.isStuck
    }
    assertEquals((again(3), again(1)), (false, true))
    feed.number += 1
    assert(!again(1), "the broker of a new session may know it")
    feed.connected = false
    assert(!again(9), "nobody can have answered")
    feed.connected = true
    assertEquals((again(2), again(1)), (false, true))
    feed.receipt = accepted
    assertEquals((again(1), again(1)), (true, false), "seen at the next acknowledgement")
  }

  test("what is kept: from where the subscription began, or an earlier run acknowledged with it") {
    val (fresh, _) = opened()
    fresh.acknowledge(two)
    assert(fresh.hasKept(one) && fresh.beganBy(begin))
    assert(!fresh.hasKept(Position(4, 9)) && !fresh.beganBy(Position(4, 9)), "before it began")
    assert(!fresh.hasKept(Position(5, 5)), "not acknowledged yet")
    val (followed, _) = opened(isFollowed = true)
    followed.acknowledge(two)
    assert(followed.hasKept(Position(4, 9)) && !followed.hasKept(Position(5, 5)))
  }

  test("the first entry after a position, where it was acknowledged last") {
    val (cursor, feed) = opened()
    cursor.acknowledge(one)
    feed.arrived = Some(two)
    assertEquals(cursor.firstAfter(one).join.map(_.place.entryId), Some(4L))
    assertEquals(Seq(begin, two).map(cursor.firstAfter(_).join), Seq(None, None))
  }

  test("an entry that does not arrive is none, and a permit lets the broker send it") {
    val (cursor, feed) = opened()
    cursor.acknowledge(one)
    assertEquals(cursor.firstAfter(one).join, None)
    cursor.awaitNext()
    assertEquals(feed.permits, 1)
  }
}
