package io.github.pulsarspark.pulsar.broker

import java.util.concurrent.CompletableFuture

import scala.collection.mutable

import munit.FunSuite
import org.apache.pulsar.client.api.PulsarClientException

import io.github.pulsarspark.errors.PulsarError
import io.github.pulsarspark.format.RangeGuard
import io.github.pulsarspark.options.ReadOptions
import io.github.pulsarspark.options.registry.{CheckedOptions, Scope}
import io.github.pulsarspark.position.{OffsetRange, Position}
import io.github.pulsarspark.pulsar.broker.FakeFeeds.Script
import io.github.pulsarspark.pulsar.connection.ClusterCalls

class BrokerEntrySourceSuite extends FunSuite {

  private val topic = "persistent://public/default/t"

  private def at(entries: Long*): Seq[(Position, Int)] = entries.map(e => Position(7, e) -> 1)

  private def script(sends: Seq[(Position, Int)], cursors: Position*): Script =
    Script(sends, cursors, last = Position(7, 9))

  /** What a read gives, and what it left behind. */
  private final class Reading(feeds: FakeFeeds, start: Position, end: Position, extra: (String, String)*) {
    private val options = ReadOptions(CheckedOptions(
      Map("service.url" -> "pulsar://h:1", "topic" -> "t", "pollTimeoutMs" -> "2000", "operationTimeoutMs" -> "2000") ++
        extra,
      Scope.BatchRead,
      _ => Nil
    ))
    private val range = OffsetRange(topic, start, end)
    val guard         = new RangeGuard(range)
    val source = new BrokerEntrySource(feeds, new ClusterCalls(options.client, "pulsar://h:1"), range, options, guard)
    val found  = mutable.Buffer.empty[Position]

    def run(): Reading = {
      try while (source.next()) found += Position(source.ledgerId, source.entryId)
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

  private def entries(numbers: Long*): Seq[Position] = numbers.map(Position(7, _))

  private def read(feeds: FakeFeeds, start: Position, end: Position, extra: (String, String)*): Reading =
    new Reading(feeds, start, end, extra: _*).run()

  test("the entry before the first one proves that nothing is missing, without a question") {
    val feeds = new FakeFeeds(Seq(script(at(3, 4, 5, 6), Position(7, 2))))
    assertEquals(read(feeds, Position(7, 3), Position(7, 6)).found.toSeq, entries(4, 5, 6))
    assertEquals(feeds.opened.toSeq, Seq(Option(Position(7, 3))))
    assertEquals(feeds.feeds.map(_.asked.get).toSeq, Seq(1))
  }

  test("entries that arrive too early, again, out of order or from elsewhere are never handed out") {
    val early = Seq(
      "too early"    -> at(0, 1, 2, 3, 4, 5, 6),
      "repeated"     -> at(3, 4, 4, 5, 5, 5, 6),
      "out of order" -> at(3, 4, 5, 3, 4, 6),
      "foreign"      -> (Seq(Position(2, 9) -> 1) ++ at(3, 4) ++ Seq(Position(6, 1) -> 1) ++ at(5, 6))
    )
    early.foreach { case (clue, sends) =>
      val reading = read(new FakeFeeds(Seq(script(sends, Position(7, 2)))), Position(7, 3), Position(7, 6))
      assertEquals(reading.found.toSeq, entries(4, 5, 6), clue)
      assert(reading.guard.rejected > 0, clue)
    }
  }

  test("what arrives after the end of the range ends it") {
    assertEquals(
      read(new FakeFeeds(Seq(script(at(3, 4, 8), Position(7, 2)))), Position(7, 3), Position(7, 6)).found.toSeq,
      entries(4)
    )
  }

  test("a range that begins or ends within an entry includes it") {
    val feeds = new FakeFeeds(Seq(script(at(2, 3, 4, 5), Position(7, 1))))
    assertEquals(read(feeds, Position(7, 3, 1), Position(7, 5, 0)).found.toSeq, entries(3, 4, 5))
  }

  test("one question proves all gaps among the entries that have arrived") {
    val feeds = new FakeFeeds(Seq(script(at(1, 3, 5, 7, 9), Position(7, 0))))
    assertEquals(read(feeds, Position(7, 1), Position(7, 9)).found.toSeq, entries(3, 5, 7, 9))
    assertEquals(feeds.feeds.map(_.asked.get).toSeq, Seq(2), "the first is asked when the feed is opened")
  }

  test("markers that a range begins with move the cursor; nobody can read anything there") {
    val moved = script(at(4, 5), Position(7, 1), Position(7, 3))
    val feeds = new FakeFeeds(Seq(moved))
    assertEquals(read(feeds, Position(7, 1), Position(7, 5)).found.toSeq, entries(4, 5))
    assertEquals(feeds.opened.size, 2)
  }

  test("a cursor that moved while entries arrived is read again from the last one") {
    val skipped  = script(at(1, 2, 6, 7), Position(7, 0), Position(7, 5))
    val complete = script(at(2, 3, 4, 5, 6, 7), Position(7, 1))
    val feeds    = new FakeFeeds(Seq(skipped, complete))
    assertEquals(read(feeds, Position(7, 1), Position(7, 7)).found.toSeq, entries(2, 3, 4, 5, 6, 7))
    assertEquals(feeds.opened.toSeq, Seq(Option(Position(7, 1)), Option(Position(7, 2))))
  }

  test("a cursor that is put beyond the start twice means data loss") {
    val trimmed = Script(Seq(Position(9, 0) -> 1, Position(9, 1) -> 1), Seq(Position(9, -1)), last = Position(9, 1))
    val feeds   = new FakeFeeds(Seq(trimmed))
    val failing = new Reading(feeds, Position(7, 1), Position(9, 1))
    val error   = intercept[RuntimeException with PulsarError](failing.source.next())
    assertEquals(error.condition, "PULSAR_DATA_LOSS")
    failing.close()
    assertEquals(feeds.opened.size, 2)
    val passed = read(new FakeFeeds(Seq(trimmed)), Position(7, 1), Position(9, 1), "failOnDataLoss" -> "false")
    assertEquals(passed.found.toSeq, Seq(Position(9, 0), Position(9, 1)))
    assertEquals(passed.source.lostRanges, 1L)
  }

  test("expiry between subscribing and asking is no data loss: the entries are there when they are read again") {
    val expired  = script(at(5, 6), Position(7, 4))
    val complete = script(at(1, 2, 3, 4, 5, 6), Position(7, 0))
    val reading  = read(new FakeFeeds(Seq(expired, complete)), Position(7, 1), Position(7, 6))
    assertEquals(reading.found.toSeq, entries(2, 3, 4, 5, 6))
  }

  test("a topic that is gone is data loss, or nothing") {
    val gone = Script(Nil, Nil, Position(0, 0),
      failure = Some(new PulsarClientException.TopicDoesNotExistException("no such topic")))
    val failing = new Reading(new FakeFeeds(Seq(gone)), Position(7, 1), Position(7, 6))
    assertEquals(intercept[RuntimeException with PulsarError](failing.source.next()).condition, "PULSAR_DATA_LOSS")
    failing.close()
    val passed = read(new FakeFeeds(Seq(gone)), Position(7, 1), Position(7, 6), "failOnDataLoss" -> "false")
    assertEquals(passed.found.toSeq, Nil)
    assertEquals(passed.source.lostRanges, 1L)
  }

  test("a topic that is deleted while it is read is data loss after the last entry") {
    val deleted = script(at(1, 2, 3), Position(7, 0)).copy(goneAfter = true)
    val gone    = Script(Nil, Nil, Position(0, 0),
      failure = Some(new PulsarClientException.TopicDoesNotExistException("no such topic")))
    val passed = read(new FakeFeeds(Seq(deleted, gone)), Position(7, 1), Position(7, 6), "failOnDataLoss" -> "false")
    assertEquals(passed.found.toSeq, entries(2, 3))
    assertEquals(passed.source.lostRanges, 1L)
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

  test("a feed whose bounds cannot be had is closed") {
    val refused = CompletableFuture.failedFuture[EntryFeed.Bounds](new PulsarClientException("no"))
    val failing =
      new Reading(new FakeFeeds(Seq(script(at(1), Position(7, 0)).copy(bounds = Some(refused)))), Position(7, 1),
        Position(7, 6))
    intercept[RuntimeException with PulsarError](failing.source.next())
    failing.close()
  }

  // The compacted view: ledger 5 is gone but for what compaction kept, ledger 7 is there.

  private val compacted = "readCompacted" -> "true"
  private val kept      = Seq(Position(5, 2), Position(5, 8), Position(7, 1), Position(7, 4))

  private def view(entries: Seq[Position], cursors: Position*) =
    Script(entries.map(_ -> 1), cursors, last = Position(7, 4))

  test("the compacted view begins with what compaction kept of ledgers that are gone, and asks no question there") {
    val feeds = new FakeFeeds(Seq(view(kept, Position(7, -1))))
    assertEquals(read(feeds, Position.BeforeAll, Position(7, 4), compacted).found.toSeq, kept)
    assertEquals(feeds.opened.toSeq, Seq(Option.empty[Position]))
    assert(feeds.feeds.map(_.asked.get).sum <= 2)
  }

  test("a position within what compaction kept is read from the beginning, up to which nothing is handed out") {
    val atPosition = view(Seq(Position(7, 1), Position(7, 4)), Position(7, -1))
    val feeds      = new FakeFeeds(Seq(atPosition, view(kept, Position(7, -1))))
    val reading    = read(feeds, Position(5, 2), Position(7, 4), compacted)
    assertEquals(reading.found.toSeq, kept.drop(1))
    assertEquals(reading.guard.rejected, 0L)
    assertEquals(feeds.opened.toSeq, Seq(Option(Position(5, 2)), None))
  }

  test("a broker resumes a consumer of the compacted view behind it, so it is read again from the beginning") {
    val interrupted =
      Script(Seq(Position(5, 2) -> 1, Position(7, 1) -> 2, Position(7, 4) -> 2), Seq(Position(7, -1)),
        last = Position(7, 4))
    val behind = view(Seq(Position(7, 1), Position(7, 4)), Position(7, -1))
    val feeds  = new FakeFeeds(Seq(interrupted, behind, view(kept, Position(7, -1))))
    assertEquals(read(feeds, Position.BeforeAll, Position(7, 4), compacted).found.toSeq, kept)
    assertEquals(feeds.opened.toSeq, Seq(None, Option(Position(5, 2)), None))
  }

  test("in the compacted view the last message may be gone") {
    val feeds = new FakeFeeds(Seq(Script(Seq(Position(5, 2) -> 1), Seq(Position(7, -1)), last = Position(5, 2))))
    assertEquals(read(feeds, Position.BeforeAll, Position(5, 9), compacted).found.toSeq, Seq(Position(5, 2)))
  }

  test("an empty compacted view is empty") {
    val feeds = new FakeFeeds(Seq(Script(Nil, Seq(Position(7, -1)), last = Position(7, -1))))
    assertEquals(read(feeds, Position.BeforeAll, Position(5, 9), compacted).found.toSeq, Nil)
  }
}
