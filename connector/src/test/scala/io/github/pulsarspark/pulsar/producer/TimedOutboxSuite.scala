package io.github.pulsarspark.pulsar.producer

import java.util.concurrent.{CountDownLatch, TimeUnit}
import java.util.concurrent.atomic.AtomicBoolean
import java.util.concurrent.locks.LockSupport

import scala.collection.mutable

import io.netty.util.HashedWheelTimer

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.schema.columns.OutgoingMessage

class TimedOutboxSuite extends UnitSuite {

  /** Messages wait here for so many nanoseconds. Like the real one it is not thread-safe, but it notices. */
  private final class Rows(delay: Long, nanos: () => Long) extends WaitingOutbox {
    private val inside            = new AtomicBoolean
    @volatile private var waiting = Vector.empty[Long]
    @volatile private var sent    = Vector.empty[Long]
    private var first             = 0L
    var inSend: () => Unit        = () => ()

    private def alone[A](body: => A): A = {
      if (!inside.compareAndSet(false, true)) throw new IllegalStateException("two threads at a time")
      try body
      finally inside.set(false)
    }

    override def send(message: OutgoingMessage): Unit = alone {
      if (waiting.isEmpty) first = nanos()
      waiting :+= message.sequenceId
    }

    override def sendDue(): Unit = alone {
      inSend()
      if (isWaiting && nanos() - dueAt >= 0) hand()
    }

    private def hand(): Unit = {
      sent ++= waiting
      waiting = Vector.empty
    }

    override def isWaiting: Boolean = waiting.nonEmpty
    override def dueAt: Long        = first + delay
    override def flush(): Unit      = alone(hand())
    override def discard(): Unit    = alone { waiting = Vector.empty }

    def handedOver: Vector[Long] = sent
  }

  private def message(id: Long): OutgoingMessage = {
    val result = new OutgoingMessage
    result.sequenceId = id
    result
  }

  /** A timer and a clock that the test moves. */
  private final class Clock {
    var now       = 0L
    val timed     = mutable.Queue.empty[(Runnable, Long)] // with their times
    val elsewhere = mutable.Queue.empty[Runnable]
    val answers   = new Acknowledgements
    val rows      = new Rows(100, () => now)
    val outbox    = new TimedOutbox(rows, answers, (work, in) => timed.enqueue(work -> (now + in)),
      work => elsewhere.enqueue(work), () => now)

    def fire(): Unit = {
      val (work, at) = timed.dequeue()
      now = Math.max(now, at)
      work.run()
    }
  }

  test("what waits is handed over when it is due, by one timer that rests when nothing waits") {
    val c = new Clock
    c.outbox.send(message(1))
    c.now = 60
    c.outbox.send(message(2))
    assertEquals(c.timed.map(_._2).toSeq, Seq(100L))
    c.fire()
    assertEquals((c.rows.handedOver, c.elsewhere.size), (Vector.empty[Long], 1), "the timer's thread must not wait")
    c.elsewhere.dequeue().run()
    assertEquals((c.rows.handedOver, c.timed.size), (Vector(1L, 2L), 0))
    c.outbox.send(message(3))
    assertEquals(c.timed.map(_._2).toSeq, Seq(200L))
    c.outbox.flush()
    c.fire()
    assertEquals((c.rows.handedOver, c.timed.size, c.elsewhere.size), (Vector(1L, 2L, 3L), 0, 0))
  }

  test("the timer follows what waits since") {
    val c = new Clock
    c.outbox.send(message(1))
    c.now = 90
    c.outbox.flush()
    c.outbox.send(message(2))
    c.fire()
    assertEquals((c.timed.map(_._2).toSeq, c.elsewhere.size), (Seq(190L), 0))
    c.fire()
    c.elsewhere.dequeue().run()
    assertEquals((c.rows.handedOver, c.timed.size), (Vector(1L, 2L), 0))
  }

  test("what fails in the turn of the timer is a failure of the task") {
    val c = new Clock
    c.rows.inSend = () => throw new IllegalStateException("no room")
    c.outbox.send(message(1))
    c.fire()
    c.elsewhere.dequeue().run()
    assertEquals(c.answers.failure.getMessage, "no room")
  }

  test("neither the timer nor a task that gives up waits for one that does") {
    val c               = new Clock
    val (waits, goesOn) = (new CountDownLatch(1), new CountDownLatch(1))
    c.rows.inSend = () => { waits.countDown(); goesOn.await(60, TimeUnit.SECONDS); () }
    c.outbox.send(message(1))
    c.outbox.send(message(2))
    val timer = c.timed.head._1
    c.fire()
    val sender = new Thread(c.elsewhere.dequeue())
    sender.start()
    assert(waits.await(60, TimeUnit.SECONDS))
    timer.run()
    assertEquals(c.timed.size, 1, "it looks again")
    c.now = 50 // nothing is due
    c.outbox.discard()
    assert(c.rows.isWaiting)
    goesOn.countDown()
    sender.join(60000)
    while (c.timed.nonEmpty) c.fire()
    assertEquals((c.rows.isWaiting, c.rows.handedOver, c.elsewhere.size), (false, Vector.empty[Long], 0))
  }

  test("rows keep their order, and each is handed over once, whoever hands it over") {
    val timer = new HashedWheelTimer(1, TimeUnit.MILLISECONDS)
    try
      for (turn <- 0 until 3000) {
        val rows    = new Rows(turn % 7 * 20000L, () => System.nanoTime())
        val answers = new Acknowledgements
        val outbox  = TimedOutbox(rows, answers, timer)
        val count   = 1 + turn % 40
        for (id <- 0 until count) {
          outbox.send(message(id.toLong))
          if ((turn + id) % 16 == 0) LockSupport.parkNanos(turn % 5 * 100000L)
        }
        outbox.flush()
        assertEquals(answers.failure, null)
        assertEquals(rows.handedOver, (0L until count.toLong).toVector, s"turn $turn")
      }
    finally { timer.stop(); () }
  }

  test("a row that waits, sent without another one") {
    val timer    = new HashedWheelTimer(1, TimeUnit.MILLISECONDS)
    val deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60)
    try {
      val started = Seq.fill(2000)(new Rows(1000000, () => System.nanoTime())).map { rows =>
        val outbox = TimedOutbox(rows, new Acknowledgements, timer)
        outbox.send(message(7))
        rows -> outbox
      }
      for ((rows, outbox) <- started) {
        while (rows.isWaiting && System.nanoTime() < deadline) LockSupport.parkNanos(100000)
        outbox.discard()
        assertEquals(rows.handedOver, Vector(7L))
      }
    } finally { timer.stop(); () }
  }
}
