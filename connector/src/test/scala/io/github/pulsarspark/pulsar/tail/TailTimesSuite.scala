package io.github.pulsarspark.pulsar.tail

import java.util.concurrent.TimeUnit

import scala.concurrent.duration._

import io.github.pulsarspark.UnitSuite

/** Times of a tail by a clock that a test moves: [[TailOutage]] and [[TailSilence]]. */
class TailTimesSuite extends UnitSuite {

  private final class Clock {
    private var now                      = Long.MaxValue - TimeUnit.SECONDS.toNanos(30) // it may overflow
    def nanos: () => Long                = () => now
    def pass(time: FiniteDuration): Unit = now += time.toNanos
  }

  private def outage(test: (TailOutage, Clock) => Any): Unit = {
    val clock = new Clock
    test(new TailOutage(1.minute, clock.nanos), clock)
    ()
  }

  test("a broker that does not respond is given up after the longest outage, with a rest after each attempt") {
    outage { (tail, clock) =>
      assert(!tail.isResting)
      assert(!tail.failed() && tail.isResting)
      clock.pass(999.millis)
      assert(tail.isResting)
      clock.pass(1.milli)
      assert(!tail.isResting)
      clock.pass(59.seconds)
      assert(!tail.failed(), "a minute, and not longer")
      clock.pass(1.nano)
      assert(tail.failed())
    }
  }

  test("a response ends an outage") {
    outage { (tail, clock) =>
      tail.failed()
      clock.pass(59.seconds)
      tail.responded()
      clock.pass(59.seconds)
      assert(!tail.failed())
      clock.pass(61.seconds)
      assert(tail.failed())
    }
  }

  test("a feed that breaks is opened at once a few times, then after a rest, and not for ever") {
    outage { (tail, clock) =>
      (1 to 10).foreach(_ => assert(!tail.broke() && !tail.isResting))
      assert(!tail.broke() && tail.isResting)
      clock.pass(61.seconds)
      assert(tail.broke())
    }
  }

  test("a feed that breaks seldom is never given up, however long that goes on") {
    outage { (tail, clock) =>
      (1 to 9).foreach { _ =>
        assert(!tail.broke())
        clock.pass(1.hour)
      }
      tail.delivered()
      (1 to 10).foreach { _ =>
        assert(!tail.broke())
        clock.pass(1.hour)
      }
      assert(tail.broke(), "without an entry in between")
    }
  }

  private def silence(isExpecting: Boolean): Seq[Int] = {
    val clock = new Clock
    val tail  = new TailSilence(clock.nanos)
    (1 to 4000).filter { _ =>
      clock.pass(1.second)
      tail.needsLook(isExpecting)
    }
  }

  test("a silent tail is looked at less and less, but again and again") {
    assertEquals(silence(isExpecting = false), Seq(60, 180, 420, 900, 1860, 2820, 3780))
  }

  test("a message that is expected makes the looks come sooner") {
    assertEquals(silence(isExpecting = true).take(7), Seq(10, 30, 70, 150, 310, 470, 630))
  }

  test("an entry ends the silence") {
    val clock = new Clock
    val tail  = new TailSilence(clock.nanos)
    clock.pass(60.seconds)
    assert(tail.needsLook(isExpecting = false))
    clock.pass(60.seconds)
    tail.ended()
    clock.pass(59.seconds)
    assert(!tail.needsLook(isExpecting = false))
    clock.pass(1.second)
    assert(tail.needsLook(isExpecting = false))
  }
}
