package io.github.pulsarspark.common

import java.util.concurrent._
import java.util.concurrent.atomic.{AtomicInteger, AtomicReference}
import java.util.concurrent.locks.LockSupport

import scala.concurrent.duration._
import scala.jdk.CollectionConverters._
import scala.util.{Failure, Random, Success, Try}

import io.github.pulsarspark.{TestSeed, UnitSuite}

class SharedPoolSuite extends UnitSuite {
  import SharedPoolSuite._

  private class Late extends RuntimeException("too late")

  /** Remembers every client it made. */
  private class Made(make: String => Unit, patience: FiniteDuration, idle: FiniteDuration) {
    val clients  = new ConcurrentLinkedQueue[Client]
    val attempts = new AtomicInteger
    val pool     = new SharedPool[String, Client]("fake client", one, _.close(), _ => patience, _ => new Late, idle)

    private def one(key: String): Client = {
      attempts.incrementAndGet()
      make(key)
      val client = new Client
      clients.add(client)
      client
    }

    def allClosedOnce(): Unit = {
      eventually(pool.size == 0 && clients.asScala.forall(_.closes.get > 0))
      assertEquals(clients.asScala.count(_.closes.get != 1), 0)
    }
  }

  test("a client that cannot be used any more is not handed out again, and closed when its users left it") {
    val spoilt = ConcurrentHashMap.newKeySet[Client]
    val pool   = new SharedPool[String, Client]("fake client", _ => new Client, _.close(), _ => 60.seconds,
      _ => new Late, isUsable = !spoilt.contains(_))
    val (first, again) = (pool.acquire("a"), pool.acquire("a"))
    assert(first.value eq again.value)
    spoilt.add(first.value)
    val next = pool.acquire("a")
    assert(next.value ne first.value)
    first.close()
    assertEquals(first.value.closes.get, 0)
    again.close()
    eventually(first.value.closes.get == 1)
    assert(pool.acquire("a").value eq next.value)
  }

  test("a slow client delays neither the start nor the end of clients of other keys") {
    val (begun, end) = (new CountDownLatch(1), new CountDownLatch(1))
    val made         = new Made(key => if (key == "slow") { begun.countDown(); end.await() }, 60.seconds, 1.milli)
    val held         = made.pool.acquire("b")
    val slow         = started(made.pool.acquire("slow").close())
    assert(begun.await(60, TimeUnit.SECONDS))
    made.pool.acquire("a").close()
    held.close()
    eventually(made.clients.asScala.forall(_.closes.get == 1))
    assert(slow.thread.isAlive)
    end.countDown()
    assertEquals(slow.outcome(), Success(()))
    made.allClosedOnce()
  }

  test(
    "all who wait for a client wait for one attempt and one deadline; what comes after it is closed, and the next acquirer tries anew"
  ) {
    val end     = new CountDownLatch(1)
    val made    = new Made(_ => end.await(), 1.second, 1.milli)
    val began   = System.nanoTime()
    val waiting = (1 to 16).map(_ => started(made.pool.acquire("a")))
    assert(waiting.forall(_.outcome().failed.get.isInstanceOf[Late]))
    val waited = (System.nanoTime() - began).nanos
    assert(waited >= 1.second && waited < 15.seconds, waited) // 16 if each waited for itself
    assertEquals(made.attempts.get, 1)
    val next = started(made.pool.acquire("a").close())
    eventually(made.attempts.get == 2)
    end.countDown()
    assertEquals(next.outcome(), Success(()))
    made.allClosedOnce()
    assertEquals(made.clients.size, 2)
  }

  test("a failed attempt fails all who wait for it, and is not remembered") {
    val (end, fails) = (new CountDownLatch(1), new AtomicReference(Option(new IllegalStateException("refused"))))
    val made         = new Made(_ => { end.await(); fails.get.foreach(throw _) }, 60.seconds, 1.milli)
    val waiting      = (1 to 4).map(_ => started(made.pool.acquire("a")))
    eventually(waiting.forall(_.thread.getState == Thread.State.TIMED_WAITING))
    end.countDown()
    assertEquals(waiting.map(_.outcome().failed.get.getMessage).distinct, Seq("refused"))
    assertEquals(made.attempts.get, 1)
    fails.set(None)
    made.pool.acquire("a").close()
    made.allClosedOnce()
  }

  test("a client whose acquirer was interrupted serves the next one, or is closed") {
    val end         = new CountDownLatch(1)
    val made        = new Made(_ => end.await(), 60.seconds, 200.millis)
    val interrupted = started(made.pool.acquire("a"))
    eventually(made.attempts.get == 1)
    interrupted.thread.interrupt()
    assert(interrupted.outcome().failed.get.isInstanceOf[InterruptedException])
    val next = started(made.pool.acquire("a"))
    eventually(next.thread.getState == Thread.State.TIMED_WAITING)
    end.countDown()
    val lease = next.outcome().get
    assertEquals(made.attempts.get, 1)
    eventually(System.nanoTime() > lease.value.made + 400.millis.toNanos) // longer than it may be idle
    lease.value.use()
    lease.close()
    lease.close()
    made.allClosedOnce()
  }

  test("whatever fails, is late or interrupted: no client is used after it is closed, closed twice, or forgotten") {
    val seed = TestSeed.next()
    val dice = new ThreadLocal[Random] {
      private val next                  = new AtomicInteger
      override def initialValue: Random = new Random(seed + next.incrementAndGet())
    }
    def pause(time: FiniteDuration): Unit = LockSupport.parkNanos(time.toNanos)
    val patience                          = 10.millis
    val made                              = new Made(
      _ =>
        dice.get.nextInt(10) match {
          case 0         => throw new IllegalStateException("refused")
          case 1         => pause(patience * 3)
          case 2 | 3     => pause(dice.get.nextInt(10).millis)
          case 4 | 5 | 6 => // arrives when those who wait give up, one after the other
            val arrival = System.nanoTime() + patience.toNanos + (dice.get.nextInt(400) - 100).micros.toNanos
            while (System.nanoTime() < arrival) Thread.onSpinWait()
          case _ => ()
        },
      patience,
      idle = 2.millis
    )
    val (turns, served) = (new AtomicInteger, new AtomicInteger)
    val deadline        = 2.minutes.fromNow // on a busy machine most turns are too late
    val workers         = (1 to 16).map { _ =>
      started {
        while (turns.incrementAndGet() <= Turns || served.get < Turns / 10 && deadline.hasTimeLeft())
          try {
            val lease = made.pool.acquire(s"key ${dice.get.nextInt(3)}")
            try {
              lease.value.use()
              if (dice.get.nextInt(4) == 0) pause(dice.get.nextInt(5).millis)
              lease.value.use()
              served.incrementAndGet()
            } finally {
              lease.close()
              if (dice.get.nextBoolean()) lease.close()
            }
          } catch { case _: InterruptedException | _: Late | _: IllegalStateException => Thread.interrupted() }
      }
    }
    while (turns.get < Turns) {
      workers(dice.get.nextInt(workers.size)).thread.interrupt()
      pause(1.milli)
    }
    workers.foreach(w => assertEquals(w.outcome().map(_ => ()), Success(())))
    made.allClosedOnce()
    assert(served.get >= Turns / 10, s"${served.get} of ${turns.get} turns had a client")
    assertEquals(made.clients.asScala.map(_.misuses.get).sum, 0)
  }

  /** Runs a body on its own thread and keeps its outcome. */
  private final class Started[A](body: => A) {
    private val result = new CompletableFuture[Try[A]]
    val thread: Thread = new Thread(() =>
      result.complete(try Success(body)
      catch { case e: Throwable => Failure(e) })
    )
    def outcome(): Try[A] = result.get(3, TimeUnit.MINUTES)
  }

  private def started[A](body: => A): Started[A] = {
    val started = new Started(body)
    started.thread.setDaemon(true)
    started.thread.start()
    started
  }

  private def eventually(look: => Boolean): Unit = {
    val deadline = System.nanoTime() + 60.seconds.toNanos
    while (!look) {
      assert(System.nanoTime() < deadline, "not within 60 s")
      LockSupport.parkNanos(1.milli.toNanos)
    }
  }
}

private object SharedPoolSuite {
  val Turns: Int = sys.env.get("PULSAR_SPARK_TEST_TURNS").fold(5000)(_.toInt)

  /** Notes how it is treated. */
  final class Client {
    val made: Long      = System.nanoTime()
    val closes, misuses = new AtomicInteger
    def close(): Unit   = { closes.incrementAndGet(); () }
    def use(): Unit     = if (closes.get > 0) { misuses.incrementAndGet(); () }
  }
}
