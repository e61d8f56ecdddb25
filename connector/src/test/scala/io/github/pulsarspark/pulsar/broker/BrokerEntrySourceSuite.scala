package io.github.pulsarspark.pulsar.broker

import java.util.concurrent.CompletableFuture

import scala.collection.mutable

import org.apache.pulsar.client.api.PulsarClientException

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.errors.PulsarError
import io.github.pulsarspark.format.RangeGuard
import io.github.pulsarspark.options.ReadOptions
import io.github.pulsarspark.options.registry.{CheckedOptions, Scope}
import io.github.pulsarspark.position.{OffsetRange, Position}
import io.github.pulsarspark.pulsar.connection.ClusterCalls
import io.github.pulsarspark.pulsar.feed.{FakeFeed, FakeFeeds, FeedBounds, PartitionFeed}
import io.github.pulsarspark.pulsar.feed.FakeFeeds.Script

class BrokerEntrySourceSuite extends UnitSuite {

  private val topic = "persistent://public/default/t"

  private def at(entries: Long*): Seq[(Position, Int)] = entries.map(e => Position(7, e) -> 1)

  private def script(sends: Seq[(Position, Int)], cursors: Position*): Script =
    Script(sends, cursors, last = Position(7, 9))

  /** A read with its result and the resources that it did not release. */
  private final class Reading(feeds: FakeFeeds, start: Position, end: Position, extra: (String, String)*) {
    private val options = ReadOptions(CheckedOptions(
      Map("service.url" -> "pulsar://h:1", "topic" -> "t", "pollTimeoutMs" -> "6000", "operationTimeoutMs" -> "2000") ++
        extra,
      Scope.BatchRead,
      _ => Nil
    ))
    private val range = OffsetRange(topic, start, end)
    val guard         = new RangeGuard(range)
    val source   = new BrokerEntrySource(feeds, new ClusterCalls(options.client, "pulsar://h:1"), range, options, guard)
    val received = mutable.Buffer.empty[Position]

    def run(): Reading = {
      try while (source.next()) received += Position(source.ledgerId, source.entryId)
      finally close()
      this
    }

    def close(): Unit = {
      source.close()
      assertEquals(feeds.closed, 1, "the client was not given back once")
      assertEquals(feeds.leaked, 0, "entries were not released")
      assert(feeds.feeds.forall(_.closed), "a consumer was left open")
    }
  }

  /** The longest wait of a read that is to end by it. */
  private val brief = "pollTimeoutMs" -> "2000"

  private val compacted = "readCompacted" -> "true"

  private def entries(numbers: Long*): Seq[Position] = numbers.map(Position(7, _))

  private def read(feeds: FakeFeeds, start: Position, end: Position, extra: (String, String)*): Reading =
    new Reading(feeds, start, end, extra: _*).run()

  test("the entry before the range proves without a request that nothing is missing") {
    val feeds = new FakeFeeds(Seq(script(at(3, 4, 5, 6), Position(7, 2))))
    assertEquals(read(feeds, Position(7, 3), Position(7, 6)).received.toSeq, entries(4, 5, 6))
    assertEquals(feeds.opened.toSeq, Seq(Option(Position(7, 3))))
    assertEquals(feeds.feeds.map(_.requests.get).toSeq, Seq(1))
  }

  test("entries that are early, repeated, out of order or foreign are never returned") {
    val early = Seq(
      "too early"    -> at(0, 1, 2, 3, 4, 5, 6),
      "repeated"     -> at(3, 4, 4, 5, 5, 5, 6),
      "out of order" -> at(3, 4, 5, 3, 4, 6),
      "foreign"      -> (Seq(Position(2, 9) -> 1) ++ at(3, 4) ++ Seq(Position(6, 1) -> 1) ++ at(5, 6))
    )
    early.foreach { case (clue, sends) =>
      val reading = read(new FakeFeeds(Seq(script(sends, Position(7, 2)))), Position(7, 3), Position(7, 6))
      assertEquals(reading.received.toSeq, entries(4, 5, 6), clue)
      assert(reading.guard.rejected > 0, clue)
    }
  }

  test("an entry after the end of the range ends it") {
    assertEquals(
      read(new FakeFeeds(Seq(script(at(3, 4, 8), Position(7, 2)))), Position(7, 3), Position(7, 6)).received.toSeq,
      entries(4)
    )
  }

  test("a range that begins or ends within an entry includes it") {
    val feeds = new FakeFeeds(Seq(script(at(2, 3, 4, 5), Position(7, 1))))
    assertEquals(read(feeds, Position(7, 3, 1), Position(7, 5, 0)).received.toSeq, entries(3, 4, 5))
  }

  test("a range that grows goes on with the same feed") {
    val feeds   = new FakeFeeds(Seq(script(at(3, 4, 5, 6, 7, 8, 9), Position(7, 2))))
    val reading = new Reading(feeds, Position(7, 3), Position(7, 5))
    def rest()  =
      Iterator.continually(reading.source).takeWhile(_.next()).map(s => Position(s.ledgerId, s.entryId)).toSeq
    assertEquals(rest(), entries(4, 5))
    assertEquals(rest(), Nil)
    reading.source.extendTo(Position(7, 8))
    assertEquals(rest(), entries(6, 7, 8))
    reading.source.extendTo(Position(7, 9, 0))
    assertEquals(rest(), entries(9))
    reading.close()
    assertEquals(feeds.opened.size, 1)
  }

  test("one request proves all gaps among the entries that have arrived") {
    val feeds = new FakeFeeds(Seq(script(at(1, 3, 5, 7, 9), Position(7, 0))))
    assertEquals(read(feeds, Position(7, 1), Position(7, 9)).received.toSeq, entries(3, 5, 7, 9))
    assertEquals(feeds.feeds.map(_.requests.get).toSeq, Seq(2), "the first request is sent when the feed opens")
  }

  test("markers at the start of a range move the cursor and are no data loss") {
    val moved = script(at(4, 5), Position(7, 1), Position(7, 3))
    val feeds = new FakeFeeds(Seq(moved))
    assertEquals(read(feeds, Position(7, 1), Position(7, 5)).received.toSeq, entries(4, 5))
    assertEquals(feeds.opened.size, 2)
  }

  test("a cursor that moved while entries arrived is opened again after the last entry") {
    val skipped  = script(at(1, 2, 6, 7), Position(7, 0), Position(7, 5))
    val complete = script(at(2, 3, 4, 5, 6, 7), Position(7, 1))
    val feeds    = new FakeFeeds(Seq(skipped, complete))
    val reading  = read(feeds, Position(7, 1), Position(7, 7))
    assertEquals(reading.received.toSeq, entries(2, 3, 4, 5, 6, 7))
    assertEquals(feeds.opened.toSeq, Seq(Option(Position(7, 1)), Option(Position(7, 2))))
    assertEquals(reading.source.reconnects, 1L)
  }

  test("a cursor that starts too late twice is data loss") {
    val trimmed = Script(Seq(Position(9, 0) -> 1, Position(9, 1) -> 1), Seq(Position(9, -1)), last = Position(9, 1))
    val feeds   = new FakeFeeds(Seq(trimmed))
    val failing = new Reading(feeds, Position(7, 1), Position(9, 1))
    val error   = intercept[RuntimeException with PulsarError](failing.source.next())
    assertEquals(error.condition, "PULSAR_DATA_LOSS.TRIMMED")
    failing.close()
    assertEquals(feeds.opened.size, 2)
    val passed = read(new FakeFeeds(Seq(trimmed)), Position(7, 1), Position(9, 1), "failOnDataLoss" -> "false")
    assertEquals(passed.received.toSeq, Seq(Position(9, 0), Position(9, 1)))
    assertEquals(passed.source.lost.count, 1L)
  }

  test("expiry between the subscription and the request is no data loss: a second read returns the entries") {
    val expired  = script(at(5, 6), Position(7, 4))
    val complete = script(at(1, 2, 3, 4, 5, 6), Position(7, 0))
    val reading  = read(new FakeFeeds(Seq(expired, complete)), Position(7, 1), Position(7, 6))
    assertEquals(reading.received.toSeq, entries(2, 3, 4, 5, 6))
  }

  test("a missing topic is data loss, or empty with failOnDataLoss=false") {
    val gone = Script(Nil, Nil, Position(0, 0),
      failure = Some(new PulsarClientException.TopicDoesNotExistException("no such topic")))
    val failing = new Reading(new FakeFeeds(Seq(gone)), Position(7, 1), Position(7, 6))
    assertEquals(intercept[RuntimeException with PulsarError](failing.source.next()).condition,
      "PULSAR_DATA_LOSS.TOPIC_DELETED")
    failing.close()
    val passed = read(new FakeFeeds(Seq(gone)), Position(7, 1), Position(7, 6), "failOnDataLoss" -> "false")
    assertEquals(passed.received.toSeq, Nil)
    assertEquals(passed.source.lost.count, 1L)
  }

  test("a topic deleted during a read is data loss after the last entry") {
    val deleted = script(at(1, 2, 3), Position(7, 0)).copy(goneAfter = true)
    val gone    = Script(Nil, Nil, Position(0, 0),
      failure = Some(new PulsarClientException.TopicDoesNotExistException("no such topic")))
    val passed = read(new FakeFeeds(Seq(deleted, gone)), Position(7, 1), Position(7, 6), "failOnDataLoss" -> "false")
    assertEquals(passed.received.toSeq, entries(2, 3))
    assertEquals(passed.source.lost.count, 1L)
  }

  test("a feed whose broker answers and sends nothing is opened again, longer after each time, until the wait ends") {
    val silent  = script(at(1, 2), Position(7, 0))
    val feeds   = new FakeFeeds(Seq(silent, silent.copy(sends = Nil), script(at(2, 3, 4), Position(7, 1))))
    val reading = read(feeds, Position(7, 1), Position(7, 4))
    assertEquals(reading.received.toSeq, entries(2, 3, 4))
    assertEquals(feeds.opened.toSeq, Seq(1L, 2L, 2L).map(e => Option(Position(7, e))))
    val never   = new FakeFeeds(Seq(silent.copy(sends = Nil)))
    val failing = new Reading(never, Position(7, 1), Position(7, 4), brief)
    assertEquals(intercept[RuntimeException with PulsarError](failing.source.next()).condition, "PULSAR_READ_TIMEOUT")
    failing.close()
    assert(Set(2, 3)(never.opened.size), "after 0, 0.5 and 1.5 of 2 seconds, unless a busy machine misses the last")
  }

  test("a feed in place of a silent one has twice the time, counted from its own beginning") {
    val opened = mutable.Buffer.empty[Long]
    val silent = script(Nil, Position(7, 0)).copy(opening = feed => {
      opened += System.nanoTime()
      CompletableFuture.completedFuture(feed)
    })
    val failing = new Reading(new FakeFeeds(Seq(silent)), Position(7, 1), Position(7, 4), brief)
    intercept[RuntimeException with PulsarError](failing.source.next())
    failing.close()
    val millis = opened.zip(opened.tail).map { case (a, b) => (b - a) / 1000000 }
    assert(millis.nonEmpty && millis.head >= 500, millis)
    assert(millis.tail.forall(_ >= 1000), millis)
  }

  test("a topic that answers once as if it were empty has lost nothing") {
    val empty = Script(Nil, Seq(Position(7, 0)), last = Position(-1, -1))
    val feeds = new FakeFeeds(Seq(empty, empty, script(at(1, 2, 3, 4), Position(7, 0))))
    assertEquals(read(feeds, Position(7, 1), Position(7, 4)).received.toSeq, entries(2, 3, 4))
    val lost = new Reading(new FakeFeeds(Seq(empty)), Position(7, 1), Position(7, 4))
    assertEquals(intercept[RuntimeException with PulsarError](lost.source.next()).condition,
      "PULSAR_DATA_LOSS.TRIMMED")
    lost.close()
  }

  test("entries that a broker sends after the last message that it names are read") {
    val named = script(at(1, 2, 3, 4), Position(7, 0)).copy(last = Position(7, 2))
    val feeds =
      new FakeFeeds(Seq(named.copy(sends = at(1, 2)), named.copy(sends = at(2, 3, 4), cursors = Seq(Position(7, 1)))))
    assertEquals(read(feeds, Position(7, 1), Position(7, 4)).received.toSeq, entries(2, 3, 4))
    assertEquals(feeds.opened.size, 2)
    val ended =
      new FakeFeeds(Seq(named.copy(sends = at(1, 2)), named.copy(sends = at(2), cursors = Seq(Position(7, 1)))))
    val lost = new Reading(ended, Position(7, 1), Position(7, 4))
    assert(lost.source.next())
    assertEquals(intercept[RuntimeException with PulsarError](lost.source.next()).condition,
      "PULSAR_DATA_LOSS.BEYOND_END")
    lost.close()
  }

  test("messages that are stored and not named are read, however late they arrive and whatever the view") {
    val named  = script(at(1, 2), Position(7, 0)).copy(last = Position(7, 2))
    val late   = named.copy(sends = at(2, 3, 4), cursors = Seq(Position(7, 1)), silentPolls = 4)
    val stored = FeedBounds(last = Position(7, 2), cursor = Position(7, 5))
    for (extra <- Seq(Nil, Seq(compacted))) {
      val feeds = new FakeFeeds(Seq(named, late), stored)
      assertEquals(read(feeds, Position(7, 1), Position(7, 4), extra: _*).received.toSeq, entries(2, 3, 4))
      assertEquals(feeds.opened.size, 2, "the wait went on in the same feed")
      assert(feeds.probes.nonEmpty && feeds.probes.forall(_.closed))
    }
    val never   = new FakeFeeds(Seq(named, late.copy(sends = at(2))), stored)
    val failing = new Reading(never, Position(7, 1), Position(7, 4), brief)
    assert(failing.source.next())
    assertEquals(intercept[RuntimeException with PulsarError](failing.source.next()).condition, "PULSAR_READ_TIMEOUT")
    failing.close()
  }

  test("what a topic has after the last message that it names is read before its end counts as lost") {
    val named = script(at(1, 2), Position(7, 0)).copy(last = Position(7, 2), countsPermits = true)
    val more  = named.copy(sends = at(2, 3), cursors = Seq(Position(7, 1)))
    val lost  = new Reading(new FakeFeeds(Seq(named, more), FeedBounds(Position(7, 2), Position(7, 3))), Position(7, 1),
      Position(7, 4))
    val error = intercept[RuntimeException with PulsarError](lost.run())
    assertEquals((lost.received.toSeq, error.condition), (entries(2, 3), "PULSAR_DATA_LOSS.BEYOND_END"))
  }

  test("a message that is named but is not in the compacted view was removed by compaction") {
    val kept  = script(at(1, 2), Position(7, 0)).copy(last = Position(7, 2))
    val feeds = new FakeFeeds(Seq(kept, kept.copy(sends = at(2))), FeedBounds(Position(7, 5), Position(7, 5)))
    assertEquals(read(feeds, Position(7, 1), Position(7, 4), compacted).received.toSeq, entries(2))
  }

  test("a silent feed that answers an old end is no data loss") {
    val forgotten = script(at(1, 2), Position(7, 0)).copy(lastLater = Some(Position(7, 2)))
    val feeds     = new FakeFeeds(Seq(forgotten, script(at(2, 3, 4), Position(7, 1))))
    assertEquals(read(feeds, Position(7, 1), Position(7, 4)).received.toSeq, entries(2, 3, 4))
  }

  test("a feed that opens after the wait for it ended is closed") {
    val late    = new CompletableFuture[FakeFeed]
    val feeds   = new FakeFeeds(Seq(script(at(1), Position(7, 0)).copy(opening = _ => late)))
    val failing = new Reading(feeds, Position(7, 1), Position(7, 6), "operationTimeoutMs" -> "1")
    Thread.currentThread.interrupt()
    val interrupted =
      try failing.source.next()
      catch { case _: InterruptedException => true } // which munit takes for its own end
    assert(interrupted)
    failing.source.close()
    late.complete(feeds.feeds.head)
    assert(feeds.feeds.head.closed)
  }

  test("a feed whose request for bounds fails is closed") {
    val refused = CompletableFuture.failedFuture[PartitionFeed.Bounds](new PulsarClientException("no"))
    val failing =
      new Reading(new FakeFeeds(Seq(script(at(1), Position(7, 0)).copy(bounds = Some(refused)))), Position(7, 1),
        Position(7, 6), brief)
    intercept[RuntimeException with PulsarError](failing.source.next())
    failing.close()
  }

  // The compacted view: ledger 5 is gone but for what compaction kept, ledger 7 is there.

  private val kept = Seq(Position(5, 2), Position(5, 8), Position(7, 1), Position(7, 4))

  private def view(entries: Seq[Position], cursors: Position*) =
    Script(entries.map(_ -> 1), cursors, last = Position(7, 4))

  test("the compacted view starts with entries of deleted ledgers, without a request") {
    val feeds = new FakeFeeds(Seq(view(kept, Position(7, -1))))
    assertEquals(read(feeds, Position.BeforeAll, Position(7, 4), compacted).received.toSeq, kept)
    assertEquals(feeds.opened.toSeq, Seq(Option.empty[Position]))
    assert(feeds.feeds.map(_.requests.get).sum <= 2)
  }

  test("a range that starts in the compacted part is read from its beginning; entries before the range are skipped") {
    val atPosition = view(Seq(Position(7, 1), Position(7, 4)), Position(7, -1))
    val feeds      = new FakeFeeds(Seq(atPosition, view(kept, Position(7, -1))))
    val reading    = read(feeds, Position(5, 2), Position(7, 4), compacted)
    assertEquals(reading.received.toSeq, kept.drop(1))
    assertEquals(reading.guard.rejected, 0L)
    assertEquals(feeds.opened.toSeq, Seq(Option(Position(5, 2)), None))
  }

  test("a compacted view that reconnects is read again from its beginning") {
    val interrupted =
      Script(Seq(Position(5, 2) -> 1, Position(7, 1) -> 2, Position(7, 4) -> 2), Seq(Position(7, -1)),
        last = Position(7, 4))
    val behind = view(Seq(Position(7, 1), Position(7, 4)), Position(7, -1))
    val feeds  = new FakeFeeds(Seq(interrupted, behind, view(kept, Position(7, -1))))
    assertEquals(read(feeds, Position.BeforeAll, Position(7, 4), compacted).received.toSeq, kept)
    assertEquals(feeds.opened.toSeq, Seq(None, Option(Position(5, 2)), None))
  }

  test("in the compacted view a missing last message is no data loss") {
    val feeds = new FakeFeeds(Seq(Script(Seq(Position(5, 2) -> 1), Seq(Position(7, -1)), last = Position(5, 2))))
    assertEquals(read(feeds, Position.BeforeAll, Position(5, 9), compacted).received.toSeq, Seq(Position(5, 2)))
  }

  test("a compacted view without entries, none are read") {
    val feeds = new FakeFeeds(Seq(Script(Nil, Seq(Position(7, -1)), last = Position(7, -1))))
    assertEquals(read(feeds, Position.BeforeAll, Position(5, 9), compacted).received.toSeq, Nil)
  }

  test("a source at its end goes on with the next range, without another feed") {
    val feeds   = new FakeFeeds(Seq(script(at(3, 4, 5, 6, 7), Position(7, 2))))
    val reading = new Reading(feeds, Position(7, 3), Position(7, 5))
    while (reading.source.next()) reading.received += Position(reading.source.ledgerId, reading.source.entryId)
    assert(reading.source.isAtEnd)
    val next = OffsetRange(topic, Position(7, 5), Position(7, 7))
    reading.source.continueTo(next.endInclusive, new RangeGuard(next))
    assert(!reading.source.isAtEnd)
    reading.run()
    assertEquals(reading.received.toSeq, entries(4, 5, 6, 7))
    assertEquals(feeds.opened.size, 1)
  }

  test("a source that stopped in an entry, before the end or after it is not at its end") {
    def ended(end: Position, last: Position = Position(7, 9)) = {
      val feeds   = new FakeFeeds(Seq(Script(at(3, 4, 6), Seq(Position(7, 2)), last)))
      val reading = new Reading(feeds, Position(7, 3), end, "failOnDataLoss" -> "false")
      while (reading.source.next()) {}
      val result = reading.source.isAtEnd
      reading.close()
      result
    }
    assert(ended(Position(7, 4)))
    assert(!ended(Position(7, 4, 0)), "in an entry")
    assert(!ended(Position(7, 5)), "entry 6 was taken from the feed")
    assert(!ended(Position(7, 5), last = Position(7, 4)), "the topic ends before it")
  }
}
