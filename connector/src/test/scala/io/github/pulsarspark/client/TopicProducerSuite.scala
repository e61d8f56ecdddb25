package io.github.pulsarspark.client

import java.util.concurrent.{CountDownLatch, TimeUnit}
import java.util.concurrent.atomic.AtomicReference

import scala.util.Try

import munit.FunSuite

class TopicProducerSuite extends FunSuite {

  private def later(seconds: Long) = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds)

  test("the wait for acknowledgements ends when they are there, or at its deadline") {
    val looks = Iterator.from(1)
    assert(TopicProducer.waitFor(later(60))(looks.next() == 3))
    assertEquals(looks.next(), 4)
    assert(TopicProducer.waitFor(System.nanoTime() - 1)(true))
    assert(!TopicProducer.waitFor(System.nanoTime() - 1)(false))
  }

  test("a task that is killed does not wait for acknowledgements") {
    val waiting = new CountDownLatch(1)
    val outcome = new AtomicReference[Try[Boolean]]
    val task    = new Thread(() => outcome.set(Try(TopicProducer.waitFor(later(600)) { waiting.countDown(); false })))
    task.setDaemon(true)
    // scala.util.Try lets interruptions through, so that the thread itself has to take them.
    task.setUncaughtExceptionHandler((_, e) => outcome.set(scala.util.Failure(e)))
    task.start()
    assert(waiting.await(60, TimeUnit.SECONDS))
    task.interrupt()
    task.join(TimeUnit.SECONDS.toMillis(60))
    assert(!task.isAlive, "the wait goes on")
    assert(outcome.get.failed.get.isInstanceOf[InterruptedException], outcome.get)
  }
}
