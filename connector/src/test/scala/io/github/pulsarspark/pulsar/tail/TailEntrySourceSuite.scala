package io.github.pulsarspark.pulsar.tail

import java.util.concurrent.CompletableFuture

import scala.collection.mutable
import scala.concurrent.duration._

import org.apache.pulsar.client.api.PulsarClientException

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.errors.PulsarError
import io.github.pulsarspark.options.ReadOptions
import io.github.pulsarspark.options.registry.{CheckedOptions, Scope}
import io.github.pulsarspark.position.{OffsetRange, Position}
import io.github.pulsarspark.pulsar.connection.ClusterCalls
import io.github.pulsarspark.pulsar.feed.{ContinuousFeed, FakeFeeds, PartitionFeed}
import io.github.pulsarspark.pulsar.feed.ContinuousFeed.Arrival
import io.github.pulsarspark.pulsar.feed.FakeFeeds.Script

/** A tail with feeds in memory, work that is done when a test says so, and a clock of its own. */
class TailEntrySourceSuite extends UnitSuite {

  private val start   = Position(7, 3)
  private val refused = Script(Nil, Nil, start, failure = Some(new PulsarClientException.ConnectException("refused")))

  private def script(entries: Seq[Long], cursors: Position*): Script =
    Script(entries.map(Position(7, _) -> 1), cursors, last = Position(7, entries.lastOption.getOrElse(3L)))

  private final class Case(scripts: Seq[Script], from: Position, options: Map[String, String]) {
    val feeds           = new FakeFeeds(scripts)
    var seconds         = 0L
    var calls           = 0
    private val waiting = mutable.Queue.empty[() => Unit]
    private val read    = ReadOptions(CheckedOptions(
      Map("service.url" -> "pulsar://h:1", "topic" -> "t", "pollTimeoutMs" -> "20000") ++ options,
      Scope.StreamRead,
      _ => Nil
    ))

    private def background(work: TailEntrySource.Work): CompletableFuture[() => Arrival] = {
      val result = new CompletableFuture[() => Arrival]
      waiting +=
        (() =>
          try { result.complete(work()); () }
          catch { case e: Throwable => result.completeExceptionally(e); () }
        )
      result
    }

    val tail = new TailEntrySource(
      new ContinuousFeed(feeds, new ClusterCalls(read.client, "pulsar://h:1"), "t", from.entryBefore, read),
      OffsetRange("t", from, Position.AfterAll),
      read,
      background,
      () => seconds.seconds.toNanos
    )

    /** Does the work under way; true if there was any. */
    def work(): Boolean = {
      val all = waiting.removeAll()
      all.foreach(_())
      all.nonEmpty
    }

    def next(): Option[Position] = Option.when(tail.next())(Position(tail.ledgerId, tail.entryId))

    /** Entries until nothing is under way. */
    def drain(): Seq[Long] = {
      val result = mutable.Buffer.empty[Long]
      var more   = true
      while (more) {
        var entry = next()
        while (entry.nonEmpty) {
          result += entry.get.entryId
          entry = next()
        }
        more = work()
      }
      result.toSeq
    }
  }

  private def reading(scripts: Script*)(test: Case => Unit): Unit = readingFrom(start)(scripts: _*)(test)

  private def readingFrom(from: Position, options: (String, String)*)(scripts: Script*)(test: Case => Unit): Unit = {
    val c = new Case(scripts, from, options.toMap)
    c.tail.lend(from, () => c.calls += 1)
    try test(c)
    finally c.tail.close()
    c.work()
    assertEquals(c.feeds.leaked, 0, "entries were not released")
    assert(c.feeds.feeds.forall(_.closed), "a consumer was left open")
    assertEquals(c.feeds.closed, 1, "the client was not returned once")
  }

  test("entries that follow one another: delivered without a wait, once the feed is open") {
    reading(script(Seq(3, 4, 5), Position(7, 2))) { c =>
      assertEquals(c.next(), None, "the feed opens in the background")
      assertEquals(c.calls, 0)
      assert(c.work())
      assertEquals(c.calls, 1, "the reader hears of it")
      assertEquals(Seq.fill(3)(c.next()), Seq(Some(Position(7, 4)), Some(Position(7, 5)), None))
      assert(!c.work(), "nothing was requested")
    }
  }

  test("an entry after a gap: held back until the broker has explained the gap, and nothing after it comes first") {
    reading(script(Seq(3, 4, 8, 9), Position(7, 2))) { c =>
      c.next()
      c.work()
      assertEquals(Seq.fill(3)(c.next()), Seq(Some(Position(7, 4)), None, None))
      assert(c.work())
      assertEquals(c.drain(), Seq(8L, 9L))
      assertEquals(c.tail.lost.count, 0L)
    }
  }

  test("the request about a gap fails: the feed is opened again and delivers the entry that waited") {
    val silent = CompletableFuture.failedFuture[PartitionFeed.Bounds](
      new PulsarClientException.ConnectException("refused")
    )
    val opened = script(Seq(3, 4, 8), Position(7, 2))
    val gap    = Seq(opened.copy(boundsLater = Some(silent)), script(Seq(4, 8, 9), Position(7, 2)))
    // the request is repeated so long, by the clock of this machine
    readingFrom(start, "pollTimeoutMs" -> "3000")(gap: _*) { c =>
      assertEquals(c.drain(), Seq(4L))
      c.seconds += 2
      assertEquals(c.drain(), Seq(8L, 9L))
      assertEquals(c.feeds.opened.toSeq, Seq(Option(start), Option(Position(7, 4))))
    }
  }

  test("entries that are gone: a loss, which fails the query unless it goes on") {
    val gone = Seq(script(Seq(8, 9), Position(7, 7)), script(Seq(8, 9), Position(7, 7)))
    reading(gone: _*) { c =>
      val e = intercept[Exception with PulsarError](c.drain())
      assertEquals(e.getCondition, "PULSAR_DATA_LOSS.TRIMMED")
    }
    readingFrom(start, "failOnDataLoss" -> "false")(gone: _*) { c =>
      assertEquals(c.drain(), Seq(8L, 9L))
      assertEquals(c.tail.lost.count, 1L)
    }
  }

  test("a broker that does not respond: tried again each second, and an error after pollTimeoutMs") {
    reading(refused, refused, script(Seq(3, 4), Position(7, 2))) { c =>
      assertEquals(c.drain(), Nil)
      assertEquals(c.feeds.opened.size, 1, "it rests")
      c.seconds += 1
      c.tail.look()
      assertEquals(c.drain(), Nil)
      c.seconds += 1
      assertEquals(c.drain(), Seq(4L))
    }
    reading(refused) { c =>
      val e = intercept[Exception with PulsarError] {
        (1 to 30).foreach { _ => c.seconds += 1; c.drain() }
      }
      assertEquals(e.getCondition, "PULSAR_UNREACHABLE")
      assert(c.seconds > 20 && c.seconds < 25, c.seconds)
    }
  }

  test("a feed that breaks again and again without an entry: an error after pollTimeoutMs") {
    reading(script(Seq(3), Position(7, 2)).copy(goneAfter = true)) { c =>
      val e = intercept[Exception with PulsarError] {
        (1 to 100).foreach { _ => c.seconds += 1; c.drain() }
      }
      assertEquals(e.getCondition, "PULSAR_REAL_TIME_FEED_BROKEN")
      assert(c.seconds > 20 && c.seconds < 40, c.seconds)
    }
  }

  test("silence while a message is known to exist: another feed after ten seconds, none before") {
    reading(script(Seq(3), Position(7, 2)), script(Seq(3, 4, 5), Position(7, 2))) { c =>
      c.tail.lend(Position(7, 5), () => c.calls += 1)
      assertEquals(c.drain(), Nil)
      c.seconds += 9
      c.tail.look()
      assertEquals(c.drain(), Nil)
      c.seconds += 1
      c.tail.look()
      assertEquals(c.drain(), Seq(4L, 5L))
      assertEquals(c.feeds.opened.size, 2)
    }
  }

  test("silence of a minute: the broker is asked, and another feed opens if it names a later message") {
    reading(script(Seq(3), Position(7, 2)).copy(lastLater = Some(Position(7, 5))),
      script(Seq(3, 4, 5), Position(7, 2))) {
      c =>
        assertEquals(c.drain(), Nil)
        c.seconds += 60
        c.tail.look()
        assertEquals(c.drain(), Seq(4L, 5L))
    }
    reading(script(Seq(3), Position(7, 2))) { c =>
      c.drain()
      (1 to 600).foreach { _ => c.seconds += 1; c.tail.look(); c.drain() }
      assertEquals(c.feeds.opened.size, 1, "an idle topic keeps its feed")
      assert(c.feeds.feeds.head.requests.get <= 6, c.feeds.feeds.head.requests.get)
    }
  }

  /** A tail that was silent at 7:3 until 9:0 arrives, before which the broker deleted everything. */
  private def afterSilence(session: Int, change: Script => Script)(test: Case => Unit): Unit = {
    val lost = Script(Seq(Position(9, 0) -> 1), Seq(Position(8, -1)), last = Position(9, 0))
    reading(change(script(Seq(3), Position(7, 2), Position(8, -1))), lost) { c =>
      assertEquals(c.drain(), Nil)
      c.feeds.feeds.head.send(Position(9, 0), session)
      test(c)
    }
  }

  test("the ledger is gone after a silence, and the broker had it when the session began: nothing was in it") {
    afterSilence(session = 1, identity)(c => assertEquals(c.drain(), Seq(0L)))
    afterSilence(session = 2, _.copy(isUnbroken = true))(c => assertEquals(c.drain(), Seq(0L)))
  }

  test("the cursor moved over a message that is still there: delivered, also after a silence") {
    val there = Script(Seq(Position(7, 3) -> 1, Position(7, 4) -> 1, Position(9, 0) -> 1), Seq(Position(7, 2)),
      last = Position(9, 0))
    reading(script(Seq(3), Position(7, 2), Position(8, -1)), there) { c =>
      assertEquals(c.drain(), Nil)
      c.feeds.feeds.head.send(Position(9, 0), 1)
      assertEquals(c.drain(), Seq(4L, 0L))
    }
  }

  test("the ledger is gone in an outage: a loss") {
    afterSilence(session = 2, identity) { c =>
      val e = intercept[Exception with PulsarError](c.drain())
      assertEquals(e.getCondition, "PULSAR_DATA_LOSS.TRIMMED")
    }
  }

  test("an empty ledger is gone after a short outage: an unload dropped it") {
    val empty                                         = Position(7, -1)
    def after(outage: Long)(test: Case => Unit): Unit = {
      val opened = Script(Nil, Seq(Position(7, -1), Position(8, -1)), last = empty, outageMillis = outage)
      val lost   = Script(Seq(Position(9, 0) -> 1), Seq(Position(8, -1)), last = Position(9, 0))
      readingFrom(empty)(opened, lost) { c =>
        assertEquals(c.drain(), Nil)
        c.feeds.feeds.head.send(Position(9, 0), 2)
        test(c)
      }
    }
    after(outage = 45000)(c => assertEquals(c.drain(), Seq(0L)))
    after(outage = 45001)(c => assert(intercept[Exception with PulsarError](c.drain()).getCondition.contains("LOSS")))
  }

  /** A tail after 7:-1, whose ledger is gone when it begins; 9:0 arrives after a silence. */
  private def afterGone(known: Position)(test: Case => Unit): Unit = {
    val gone = Script(Nil, Seq(Position(8, -1)), last = Position(9, -1))
    val lost = Script(Seq(Position(9, 0) -> 1), Seq(Position(8, -1)), last = Position(9, 0))
    readingFrom(Position(7, -1))(gone, lost) { c =>
      c.tail.lend(known, () => c.calls += 1)
      assertEquals(c.drain(), Nil)
      c.feeds.feeds.head.send(Position(9, 0), 1)
      test(c)
    }
  }

  test("a ledger of which nothing was read is gone before the tail begins, and messages exist: a loss") {
    afterGone(known = Position(9, 0)) { c =>
      val e = intercept[Exception with PulsarError](c.drain())
      assertEquals(e.getCondition, "PULSAR_DATA_LOSS.TRIMMED")
    }
  }

  test("the same of a partition that was empty a moment before: an unload dropped the ledger") {
    afterGone(known = Position(7, -1))(c => assertEquals(c.drain(), Seq(0L)))
    afterGone(known = Position(8, -1))(c => assertEquals(c.drain(), Seq(0L)))
  }

  /** A tail after 7:-1, whose ledger is gone; 9:0 is there as soon as a feed opens, before any silence. */
  private def atOnce(known: Position, seconds: Long, before: Script*)(test: Case => Unit): Unit = {
    val there = Script(Seq(Position(9, 0) -> 1), Seq(Position(8, -1)), last = Position(9, 0))
    readingFrom(Position(7, -1))(before ++ Seq(there, there): _*) { c =>
      c.tail.lend(known, () => c.calls += 1)
      c.seconds += seconds
      test(c)
    }
  }

  test("an empty partition is unloaded, and an entry is there as soon as a feed opens: no loss after a short time") {
    val empty = Position(7, -1)
    val broke = Script(Nil, Seq(empty), last = empty).copy(goneAfter = true)
    atOnce(known = empty, seconds = 45)(c => assertEquals(c.drain(), Seq(0L)))
    atOnce(known = empty, seconds = 1, broke)(c => assertEquals(c.drain(), Seq(0L)))
    val late = Seq[(Position, Long, Seq[Script])](
      (empty, 46L, Nil),
      (Position(9, 0), 1L, Nil),
      (empty, 2L, Seq(broke.copy(outageMillis = 44000)))
    )
    for ((known, seconds, before) <- late) atOnce(known, seconds, before: _*) { c =>
      val e = intercept[Exception with PulsarError](c.drain())
      assertEquals(e.getCondition, "PULSAR_DATA_LOSS.TRIMMED")
    }
  }

  test("an entry of which messages are left: delivered once more to the next reader, then what follows") {
    reading(script(Seq(3, 4, 5), Position(7, 2))) { c =>
      c.next()
      c.work()
      assertEquals(c.next(), Some(Position(7, 4)))
      assert(c.tail.isIdle)
      c.tail.repeat()
      c.tail.lend(start, () => ())
      assertEquals(c.next(), Some(Position(7, 4)))
      assertEquals(c.next(), Some(Position(7, 5)))
    }
  }

  test("a start inside an entry: that entry is delivered") {
    readingFrom(Position(7, 4, 2))(script(Seq(3, 4, 5), Position(7, 2))) { c =>
      assertEquals(c.drain(), Seq(4L, 5L))
    }
  }

  test("a topic that does not exist: a loss") {
    val missing = Script(Nil, Nil, start, failure = Some(new PulsarClientException.TopicDoesNotExistException("none")))
    reading(missing) { c =>
      val e = intercept[Exception with PulsarError](c.drain())
      assertEquals(e.getCondition, "PULSAR_DATA_LOSS.TOPIC_DELETED")
    }
  }

  test("a tail with work under way: not idle, and closed after the work") {
    reading(script(Seq(3, 4), Position(7, 2))) { c =>
      c.next()
      assert(!c.tail.isIdle)
    }
  }
}
