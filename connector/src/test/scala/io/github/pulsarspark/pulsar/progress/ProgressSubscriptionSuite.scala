package io.github.pulsarspark.pulsar.progress

import java.util.concurrent.CompletableFuture
import java.util.concurrent.TimeUnit.MILLISECONDS

import scala.concurrent.duration._

import org.apache.pulsar.client.api.PulsarClientException

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.errors.PulsarError
import io.github.pulsarspark.options.ReadOptions
import io.github.pulsarspark.options.registry.{CheckedOptions, Scope}
import io.github.pulsarspark.position.{OffsetRange, Position}
import io.github.pulsarspark.pulsar.feed.PartitionFeed
import io.github.pulsarspark.pulsar.connection.ClusterCalls

class ProgressSubscriptionSuite extends UnitSuite {

  private val options = ReadOptions(
    CheckedOptions(Map("service.url" -> "pulsar://h:1", "topic" -> "t", "operationTimeoutMs" -> "2000"),
      Scope.StreamRead, _ => Nil)
  ).client
  private val begin = Position(5, -1)
  private val last  = Position(5, 9)

  private final class Following(patience: FiniteDuration = 500.millis, opened: Position = begin) {
    val fake         = new FakeSubscription(Map("a" -> opened, "b" -> begin))
    val subscription = new ProgressSubscription("mine", fake, new ClusterCalls(options, "pulsar://h:1"), patience,
      cleanup = 100.millis)

    def feed: FakeFeed = fake.feeds("a")

    /** A trigger of a stream that has read `a` up to there. */
    def trigger(read: Position, next: Option[Position] = None): Unit = {
      subscription.subscribe(Set("a", "b"), _ => false)
      subscription.acknowledge(Map("a" -> read, "b" -> begin), Map("a" -> next.getOrElse(read), "b" -> begin),
        Map("a"                        -> last, "b" -> begin))
    }
  }

  private def condition(block: => Any): String = intercept[RuntimeException with PulsarError](block).condition

  test("partitions that moved are acknowledged, once, and others are not") {
    val following = new Following
    for (_ <- 1 to 3) following.trigger(last)
    assertEquals(following.feed.acknowledged.toSeq, Seq(last))
    assertEquals(following.fake.feeds("b").acknowledged.toSeq, Nil)
    assertEquals(following.fake.opened.toSeq, Seq("a", "b"))
  }

  test("a trigger behind the last one, no acknowledgement") {
    val following = new Following
    following.trigger(last)
    following.trigger(last, next = Some(Position(6, 3)))
    following.trigger(Position(5, 4))
    assertEquals(following.feed.acknowledged.toSeq, Seq(last))
  }

  test("the broker may send the next entry where the stream has read everything") {
    val following = new Following
    following.trigger(Position(5, 4), next = Some(last))
    following.trigger(Position(5, 4))
    assertEquals(following.feed.permits, 0)
    following.trigger(last)
    assertEquals(following.feed.permits, 1)
  }

  test("a failed acknowledgement is sent again at the next trigger, and one without a receipt is not") {
    val following = new Following
    following.subscription.subscribe(Set("a", "b"), _ => false)
    following.feed.receipt = CompletableFuture.failedFuture(new PulsarClientException("no connection"))
    following.trigger(last)
    following.feed.receipt = new CompletableFuture[Void]
    for (_ <- 1 to 3) following.trigger(last)
    assertEquals(following.feed.acknowledged.toSeq, Seq(last, last))
  }

  test("a consumer that is connected and fails all the time is replaced; one without a connection is waited for") {
    for (isConnected <- Seq(true, false)) {
      val following = new Following
      following.trigger(begin)
      val before = following.feed
      before.connected = isConnected
      before.receipt = CompletableFuture.failedFuture(new PulsarClientException("no answer"))
      for (_ <- 1 to 6) following.trigger(last)
      assertEquals(following.feed ne before, isConnected)
    }
  }

  test("another session begins with the acknowledgement of the one before") {
    val following = new Following
    following.trigger(last)
    following.feed.number = 2
    for (_ <- 1 to 3) following.trigger(last)
    assertEquals(following.feed.acknowledged.toSeq, Seq(last, last))
  }

  test("a consumer that is gone is opened again, and one of a partition that is gone is closed") {
    val following = new Following
    following.trigger(last)
    val before = following.feed
    before.isClosed = true
    following.trigger(last)
    assert(following.feed ne before)
    following.subscription.subscribe(Set("b"), _ => false)
    assert(following.feed.isClosed)
  }

  test("another consumer is waited for, at most as long as an operation") {
    val following = new Following
    val busy      = new PulsarClientException.ConsumerBusyException("Exclusive consumer is already connected")
    following.fake.failures = Seq(busy, busy)
    following.subscription.subscribe(Set("a"), _ => false)
    assertEquals(following.fake.opened.size, 3)
    val refused = new Following(1.milli)
    refused.fake.failures = Seq.fill(100)(busy)
    assertEquals(condition(refused.subscription.subscribe(Set("a"), _ => false)), "PULSAR_SUBSCRIPTION_BUSY")
  }

  test("a stream starts where the subscription is; without it nothing is subscribed to") {
    val following = new Following
    assertEquals(following.subscription.positions(Seq("a", "b")), Map("a" -> begin, "b" -> begin))
    val without = new Following
    without.fake.existing = p => Some(p != "b")
    assertEquals(condition(without.subscription.positions(Seq("a", "b"))), "PULSAR_SUBSCRIPTION_NOT_FOUND")
    assertEquals(without.fake.opened.toSeq, Nil)
    val absent = new Following
    absent.fake.existing = p => Option.when(p == "a")(true)
    absent.fake.missing = new PulsarClientException.TopicDoesNotExistException("deleted")
    assertEquals(absent.subscription.positions(Seq("a", "b")), Map("a" -> begin))
  }

  /** The start of a range over the end of a ledger that was acknowledged, whose ledger is gone. */
  private def startAfterLedger(following: Following, cursor: Position, isFollowed: Boolean): Position = {
    following.subscription.subscribe(Set("a", "b"), _ => isFollowed)
    following.feed.cursor = cursor
    val range = OffsetRange("a", last, Position(7, 3))
    following.subscription.withoutAcknowledged(Seq(range), _ => isFollowed, _ => Map("a" -> Position(7, -1))).head
      .startExclusive
  }

  test("what this run acknowledged may be gone") {
    val following = new Following
    following.trigger(last)
    assertEquals(startAfterLedger(following, last, isFollowed = false), Position(7, -1))
    assertEquals(startAfterLedger(following, Position(7, -1), isFollowed = false), Position(7, -1))
  }

  test("what nobody acknowledged may not") {
    assertEquals(startAfterLedger(new Following, Position(7, -1), isFollowed = true), last)
  }

  test("what a subscription has passed when it is opened may be gone only if an earlier run used it") {
    def opened = new Following(opened = Position(7, -1))
    assertEquals(startAfterLedger(opened, Position(7, -1), isFollowed = true), Position(7, -1))
    assertEquals(startAfterLedger(opened, Position(7, -1), isFollowed = false), last)
  }

  test("a subscription that was made in the place of one that was deleted is new") {
    val remade = new Following(opened = Position(7, -1))
    remade.fake.existing = _ => Some(false)
    assertEquals(startAfterLedger(remade, Position(7, -1), isFollowed = true), last)
  }

  test("where the first message that arrived begins a ledger nothing is requested") {
    val following = new Following
    following.trigger(last)
    following.feed.arrived = Some(Position(7, 0))
    val range = OffsetRange("a", last, Position(7, 3))
    val found = following.subscription.withoutAcknowledged(Seq(range), _ => false, _ => fail("a request"))
    assertEquals(found.map(_.startExclusive), Seq(Position(7, -1)))
  }

  test("the broker is requested where the consumer was disconnected before the first message arrived") {
    val following = new Following
    following.trigger(last)
    following.feed.arrived = Some(Position(7, 0))
    following.feed.isUninterrupted = false
    val range = OffsetRange("a", last, Position(7, 3))
    val there = (_: Map[String, Position]) => Map("a" -> Position(5, 8))
    assertEquals(following.subscription.withoutAcknowledged(Seq(range), _ => false, there), Seq(range))
  }

  test("the first message after a standstill is waited for") {
    val following = new Following
    following.trigger(last)
    val range    = OffsetRange("a", last, Position(7, 3))
    val arriving = new CompletableFuture[ProgressFeed.Arrival]
    following.feed.arriving = Some(arriving)
    CompletableFuture.delayedExecutor(20, MILLISECONDS).execute { () =>
      arriving.complete(new ProgressFeed.Arrival(new PartitionFeed.Place(7, 0), true))
      ()
    }
    val found = following.subscription.withoutAcknowledged(Seq(range), _ => false, _ => fail("a request"))
    assertEquals(found.map(_.startExclusive), Seq(Position(7, -1)))
  }

  test("a subscription that is ahead of the stream holds nothing for it") {
    def holds(opened: Position, read: Position) = {
      val following = new Following(opened = opened)
      following.trigger(read)
      following.subscription.holds(Map("a" -> read))
    }
    assert(holds(begin, last))
    assert(holds(last, last))
    assert(!holds(Position(7, -1), last))
  }

  test("the last entry stays while more is known to be there, whoever reads it when") {
    val following = new Following
    following.trigger(Position(5, 4))
    assertEquals(following.feed.acknowledged.toSeq, Seq(Position(5, 3)))
  }

  test("a range within a ledger needs no request, and one that becomes empty is dropped") {
    val following = new Following
    following.trigger(last)
    val within = OffsetRange("a", last, Position(5, 12))
    val empty  = OffsetRange("a", last, Position(7, -1))
    val never  = (_: Map[String, Position]) => fail("a request")
    assertEquals(following.subscription.withoutAcknowledged(Seq(within), _ => true, never), Seq(within))
    following.feed.cursor = Position(7, -1)
    val gone = (p: Map[String, Position]) => p.map { case (name, _) => name -> Position(7, -1) }
    assertEquals(following.subscription.withoutAcknowledged(Seq(empty), _ => true, gone), Nil)
  }

  test("the end waits for receipts, but not for long") {
    val following = new Following(100.millis)
    following.subscription.subscribe(Set("a", "b"), _ => false)
    following.feed.receipt = new CompletableFuture[Void]
    following.trigger(last)
    val began = System.nanoTime()
    following.subscription.close()
    val millis = (System.nanoTime() - began) / 1000000
    assert(millis >= 90 && millis < 5000, millis)
    assert(following.feed.isClosed)
  }
}
