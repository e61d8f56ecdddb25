package io.github.pulsarspark.common

import java.util.concurrent.{CompletableFuture, CountDownLatch, ExecutionException, TimeUnit}

import io.github.pulsarspark.UnitSuite

class BlockingParallelSuite extends UnitSuite {

  test("work that is started runs at the same time, and its failures are those of its answers") {
    val parallel                                         = new BlockingParallel("test", 2)
    val (one, two)                                       = (new CountDownLatch(1), new CountDownLatch(1))
    def meet(own: CountDownLatch, other: CountDownLatch) = () => {
      own.countDown()
      other.await(60, TimeUnit.SECONDS)
    }
    val answers = Seq(parallel.start(meet(one, two)), parallel.start(meet(two, one)))
    assertEquals(answers.map(_.get(60, TimeUnit.SECONDS)), Seq(true, true))
    val failed = parallel.start[Int](() => throw new IllegalStateException("wrong"))
    assertEquals(intercept[ExecutionException](failed.get(60, TimeUnit.SECONDS)).getCause.getMessage, "wrong")
    assert(parallel.stop(60000))
  }

  test("a stop interrupts what is under way, and what did not begin never does") {
    val parallel = new BlockingParallel("test", 1)
    val begun    = new CountDownLatch(1)
    val endless  = parallel.start[Boolean] { () =>
      begun.countDown()
      new CountDownLatch(1).await(600, TimeUnit.SECONDS)
    }
    val waiting = parallel.start(() => fail("it began"))
    assert(begun.await(60, TimeUnit.SECONDS))
    assert(parallel.stop(60000))
    assert(intercept[ExecutionException](endless.get(60, TimeUnit.SECONDS)).getCause.isInstanceOf[InterruptedException])
    assert(!waiting.isDone)
  }

  test("a thread that is interrupted waits for nothing, and stays interrupted") {
    val parallel     = new BlockingParallel("test", 1)
    val (begun, end) = (new CountDownLatch(1), new CompletableFuture[Unit])
    parallel.start { () =>
      begun.countDown()
      end.join() // deaf to interrupts
    }
    assert(begun.await(60, TimeUnit.SECONDS))
    Thread.currentThread.interrupt()
    assert(!parallel.stop(600000))
    assert(Thread.interrupted(), "the interrupt is forgotten")
    end.complete(())
    assert(parallel.stop(60000))
  }
}
