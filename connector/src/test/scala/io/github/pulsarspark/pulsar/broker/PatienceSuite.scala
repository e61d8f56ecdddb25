package io.github.pulsarspark.pulsar.broker

import scala.concurrent.duration._

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.pulsar.feed.FeedTimes

class PatienceSuite extends UnitSuite {

  private var now = 0L

  private def waiting(longest: FiniteDuration): Patience = {
    now = 1000000000000L
    val result = new Patience(longest, () => now)
    result.begin()
    result
  }

  private def pass(time: FiniteDuration): Unit = now += time.toNanos

  test("the first look comes when the feed counts as silent, later ones before the wait is over") {
    val patience = waiting(8.seconds)
    assertEquals(patience.nextMillis(), 2000L, "a quarter")
    pass(2.seconds)
    assertEquals(patience.nextMillis(), FeedTimes.SecondLookMillis)
    pass(5.seconds)
    assertEquals(patience.nextMillis(), 1000L)
    assert(!patience.isOver)
    pass(1.second)
    assert(patience.isOver)
  }

  test("a wait that is long looks often all the same") {
    val patience = waiting(1.hour)
    assertEquals(patience.nextMillis(), FeedTimes.SecondLookMillis)
    assertEquals(patience.nextMillis(), FeedTimes.SecondLookMillis)
  }

  test("each feed has twice as long as the one before, and all of them the same wait") {
    val patience = waiting(8.seconds)
    pass(1999.millis)
    assert(!patience.isSilent())
    pass(1.milli)
    assert(patience.isSilent())
    patience.goOn()
    assertEquals(patience.nextMillis(), 4000L)
    pass(3999.millis)
    assert(!patience.isSilent())
    pass(1.milli)
    assert(patience.isSilent())
    patience.goOn()
    assert(!patience.isOver)
    pass(2.seconds)
    assert(patience.isOver, "8 seconds after the wait began")
  }

  test("a feed that was replaced for another reason than silence has the whole wait, and so has the next entry") {
    val patience = waiting(8.seconds)
    pass(7.seconds)
    patience.goOn()
    pass(7.seconds)
    assert(!patience.isOver)
    assert(patience.isSilent())
    patience.begin()
    assertEquals(patience.nextMillis(), 2000L)
    pass(7.seconds)
    assert(!patience.isOver)
  }

  test("a feed may be opened again ten times in any case, and as often as it takes within the wait") {
    val patience = waiting(8.seconds)
    for (n <- 1 to FeedTimes.MaxReopened + 5) assert(patience.mayReopen(), s"$n")
    pass(9.seconds)
    assert(!patience.mayReopen())
    patience.begin()
    pass(9.seconds)
    for (n <- 1 to FeedTimes.MaxReopened) assert(patience.mayReopen(), s"$n, after the wait")
    assert(!patience.mayReopen())
  }
}
