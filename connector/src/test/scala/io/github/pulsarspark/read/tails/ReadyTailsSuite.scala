package io.github.pulsarspark.read.tails

import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicLong

import io.github.pulsarspark.UnitSuite

/** The queue that wakes a task. */
class ReadyTailsSuite extends UnitSuite {

  test("added twice before it is taken: taken once, in the order of the first time") {
    val ready  = new ReadyTails[String](_ => false)
    val (a, b) = (ready.entry("a"), ready.entry("b"))
    Seq(b, a, b).foreach(_.run())
    assertEquals(Seq.fill(3)(ready.poll(0).map(_.tail)), Seq(Some("b"), Some("a"), None))
  }

  test("nothing is ready: the wait ends at its time") {
    val ready = new ReadyTails[String](_ => false)
    val began = System.nanoTime()
    assertEquals(ready.poll(TimeUnit.MILLISECONDS.toNanos(20)), None)
    assert(System.nanoTime() - began >= TimeUnit.MILLISECONDS.toNanos(20))
  }

  test("messages of three threads, a million each: none is missed by a reader that sleeps when it finds nothing") {
    val ready   = new ReadyTails[AtomicLong](_ => false)
    val tails   = Seq.fill(3)(new AtomicLong)
    val entries = tails.map(ready.entry)
    val each    = 1000000L
    val threads = entries.map { entry =>
      new Thread(() =>
        (1L to each).foreach { _ =>
          entry.tail.incrementAndGet()
          entry.run()
        }
      )
    }
    threads.foreach(_.start())
    var read = 0L
    while (read < 3 * each) {
      val entry = ready.poll(TimeUnit.SECONDS.toNanos(60)).getOrElse(fail(s"asleep after $read messages"))
      read += entry.tail.getAndSet(0)
    }
    threads.foreach(_.join())
    assertEquals(tails.map(_.get).sum, 0L)
  }

  test("a tail with a backlog: others with new messages go first, but not for ever") {
    val ready  = new ReadyTails[String](_.startsWith("behind"))
    val behind = Seq("behind 1", "behind 2").map(ready.entry)
    val live   = ready.entry("live")
    behind.foreach(_.run())
    assert(!ready.hasLive)
    live.run()
    assert(ready.hasLive)
    val order = Iterator.continually {
      val next = ready.poll(0).get
      next.run() // it has more
      next.tail
    }.take(2 * ReadyTails.MostInFront + 4).toSeq
    assertEquals(order.head, "live")
    assertEquals(order.count(_ == "behind 1"), 2, order)
    assertEquals(order.filter(_ != "live").take(2), Seq("behind 1", "behind 2"))
  }

  test("tails with a backlog alone: each has its turn") {
    val ready = new ReadyTails[String](_ => true)
    val tails = Seq("a", "b", "c").map(ready.entry)
    tails.foreach(_.run())
    val order = Iterator.continually {
      val next = ready.poll(0).get
      next.run()
      next.tail
    }.take(6).toSeq
    assertEquals(order, Seq("a", "b", "c", "a", "b", "c"))
  }
}
