package io.github.pulsarspark.pulsar.feed

import org.apache.pulsar.client.api.PulsarClientException

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.options.ReadOptions
import io.github.pulsarspark.options.registry.{CheckedOptions, Scope}
import io.github.pulsarspark.position.Position
import io.github.pulsarspark.pulsar.connection.ClusterCalls
import io.github.pulsarspark.pulsar.feed.ContinuousFeed.Arrival
import io.github.pulsarspark.pulsar.feed.FakeFeeds.Script

/** A feed without an end: what a range reads of it is in BrokerEntrySourceSuite. */
class ContinuousFeedSuite extends UnitSuite {

  private val start = Position(7, 3)
  private val gone  =
    Script(Nil, Nil, start, failure = Some(new PulsarClientException.TopicDoesNotExistException("no such topic")))

  private def script(entries: Seq[Long], cursors: Position*): Script =
    Script(entries.map(Position(7, _) -> 1), cursors, last = Position(7, entries.lastOption.getOrElse(3L)))

  private def reading(scripts: Script*)(test: (ContinuousFeed, FakeFeeds) => Unit): Unit = {
    val feeds   = new FakeFeeds(scripts)
    val options = ReadOptions(CheckedOptions(Map("service.url" -> "pulsar://h:1", "topic" -> "t"), Scope.BatchRead,
      _ => Nil))
    val feed = new ContinuousFeed(feeds, new ClusterCalls(options.client, "pulsar://h:1"), "t", start, options)
    try test(feed, feeds)
    finally feed.close()
    assertEquals(feeds.closed, 1, "the client was not given back once")
    assertEquals(feeds.leaked, 0, "entries were not released")
    assert(feeds.feeds.forall(_.closed), "a consumer was left open")
  }

  /** Next arrival; takes its entry if that is possible. */
  private def arrival(feed: ContinuousFeed): Arrival = {
    val result = feed.next(0, feed.last)
    if (result == Arrival.Next || result == Arrival.NextAfterLoss) feed.take()
    result
  }

  test("a reader without an end waits after the last entry, and silence is no error") {
    reading(script(Seq(3, 4, 5), Position(7, 2))) { (feed, feeds) =>
      assertEquals(feed.open(feed.last), Some(FeedBounds(Position(7, 5), Position(7, 2))))
      assertEquals(Seq.fill(5)(arrival(feed)),
        Seq(Arrival.Skipped, Arrival.Next, Arrival.Next, Arrival.Silence, Arrival.Silence))
      assertEquals(feed.last, Position(7, 5))
      assertEquals(feeds.feeds.head.requests.get, 1, "silence requests nothing")
    }
  }

  test("an entry that is not taken does not count as read") {
    reading(script(Seq(4, 5), Position(7, 2))) { (feed, _) =>
      feed.open(feed.last)
      assertEquals(feed.next(0, feed.last), Arrival.Next)
      assertEquals((feed.position, feed.last), (Position(7, 4), start))
    }
  }

  test("a feed that is gone is opened again at the last entry read") {
    reading(script(Seq(3, 4), Position(7, 2)).copy(goneAfter = true), script(Seq(4, 5), Position(7, 3))) {
      (feed, feeds) =>
        feed.open(feed.last)
        assertEquals(Seq.fill(3)(arrival(feed)), Seq(Arrival.Skipped, Arrival.Next, Arrival.Broken))
        assert(!feed.isAlive)
        feed.reopen(feed.last)
        assertEquals(Seq.fill(3)(arrival(feed)), Seq(Arrival.Skipped, Arrival.Next, Arrival.Silence))
        assertEquals(feeds.opened.toSeq, Seq(Option(start), Option(Position(7, 4))))
        assertEquals(feed.reconnects, 1L)
    }
  }

  test("what is gone after the last entry read is a loss once two feeds have shown it") {
    reading(script(Seq(8, 9), Position(7, 7))) { (feed, _) =>
      feed.open(feed.last)
      assertEquals(arrival(feed), Arrival.Broken)
      feed.reopen(feed.last)
      assertEquals(Seq.fill(2)(arrival(feed)), Seq(Arrival.NextAfterLoss, Arrival.Next))
      assertEquals(feed.last, Position(7, 9))
    }
  }

  test("an entry that was read arrives again only when a feed was opened") {
    reading(script(Seq(3, 4, 4, 3), Position(7, 2))) { (feed, _) =>
      feed.open(feed.last)
      assertEquals(Seq.fill(4)(arrival(feed)), Seq(Arrival.Skipped, Arrival.Next, Arrival.Rejected, Arrival.Rejected))
    }
  }

  test("three feeds must agree that a message which is known does not exist") {
    val empty = Script(Nil, Seq(Position(7, 2)), last = Position(-1, -1))
    reading(empty) { (feed, feeds) =>
      assertEquals(feed.open(Position(7, 9)).map(_.last), Some(Position(-1, -1)))
      assertEquals(feeds.opened.size, FeedTimes.Confirmations)
    }
    reading(empty, script(Seq(3, 4), Position(7, 2))) { (feed, feeds) =>
      assertEquals(feed.open(Position(7, 4)).map(_.last), Some(Position(7, 4)))
      assertEquals(feeds.opened.size, 2)
    }
    reading(script(Seq(3), Position(7, 2))) { (feed, feeds) =>
      assertEquals(feed.open(feed.last).map(_.last), Some(start))
      assertEquals(feeds.opened.size, 1)
    }
  }

  test("an entry that arrives after the last message that is named proves that the topic goes on") {
    Seq(start, Position(-1, -1)).foreach { last =>
      reading(script(Seq(3, 4, 5), Position(7, 2)).copy(last = last)) { (feed, feeds) =>
        assertEquals(feed.open(Position(7, 9)).map(_.last), Some(Position(7, 9)))
        assertEquals(feeds.opened.size, 1)
        assertEquals(Seq.fill(3)(arrival(feed)), Seq(Arrival.Skipped, Arrival.Next, Arrival.Next))
      }
    }
    reading(script(Seq(3), Position(7, 2)).copy(last = start)) { (feed, feeds) =>
      assertEquals(feed.open(Position(7, 9)).map(_.last), Some(start), "nothing arrives after it")
      assertEquals(feeds.opened.size, FeedTimes.Confirmations)
    }
    reading(script(Seq(3, 4), Position(7, 2)).copy(last = Position(7, 4))) { (feed, feeds) =>
      assertEquals(feed.open(Position(7, 9)).map(_.last), Some(Position(7, 4)), "more is to be read before it")
      assertEquals(feeds.opened.size, 1)
    }
  }

  test("a topic that does not exist is an answer, also for a feed that was open") {
    reading(gone)((feed, _) => assertEquals(feed.open(feed.last), None))
    reading(script(Seq(3, 4), Position(7, 2)).copy(goneAfter = true), gone) { (feed, _) =>
      feed.open(feed.last)
      assertEquals(Seq.fill(3)(arrival(feed)), Seq(Arrival.Skipped, Arrival.Next, Arrival.Broken))
      assertEquals(feed.reopen(feed.last), None)
      assertEquals(feed.last, Position(7, 4))
    }
  }
}
