package io.github.pulsarspark.common

import java.util.concurrent.{CompletableFuture, ExecutionException, LinkedBlockingQueue, ThreadPoolExecutor, TimeUnit}
import java.util.concurrent.atomic.AtomicInteger

import scala.jdk.CollectionConverters._

/** Runs blocking work on several threads. The threads end when they are idle for a while.
  *
  * @param name
  *   prefix of the names of the threads
  */
private[pulsarspark] final class BlockingParallel(name: String, threads: Int) {

  private val started = new AtomicInteger

  private val pool = {
    val result = new ThreadPoolExecutor(
      threads,
      threads,
      BlockingParallel.IdleSeconds,
      TimeUnit.SECONDS,
      new LinkedBlockingQueue[Runnable],
      (work: Runnable) => {
        val thread = new Thread(work, s"$name-${started.incrementAndGet()}")
        thread.setDaemon(true)
        thread
      }
    )
    result.allowCoreThreadTimeOut(true)
    result
  }

  /** Runs all of the work, a single item on the calling thread. Then throws the first failure. An interrupt ends the
    * wait and interrupts the work.
    */
  def run(work: Seq[() => Unit]): Unit = work match {
    case Seq(one) => one()
    case _        =>
      val results =
        pool.invokeAll(work.map(w => (() => w()): java.util.concurrent.Callable[Unit]).asJava).asScala.toSeq
      try results.foreach(_.get())
      catch { case e: ExecutionException => throw e.getCause }
  }

  /** Starts one item and does not wait for it. Its future never completes if this is stopped first. */
  def start[A](work: () => A): CompletableFuture[A] = CompletableFuture.supplyAsync(() => work(), pool)

  /** Like `start`, but returns a function that waits for the result and throws the failure of `work`. */
  def begin[A](work: () => A): () => A = {
    val answer = start(work)
    () =>
      try answer.get()
      catch { case e: ExecutionException => throw e.getCause }
  }

  /** Interrupts running work and waits for its end.
    *
    * @return
    *   false if the time is over first, or this thread is interrupted
    */
  def stop(millis: Long): Boolean = {
    pool.shutdownNow()
    try pool.awaitTermination(millis, TimeUnit.MILLISECONDS)
    catch {
      case _: InterruptedException =>
        Thread.currentThread.interrupt()
        false
    }
  }
}

private object BlockingParallel {
  private val IdleSeconds = 10L
}
