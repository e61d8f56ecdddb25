package io.github.pulsarspark.pulsar.connection

import java.util.concurrent.{CompletableFuture, TimeUnit}

import scala.concurrent.duration._

/** Sends a request, which must be safe to repeat, again while its failure is one that passes. */
private[pulsarspark] object RepeatedRequest {

  /** Pause between a failure and the next request. */
  val Pause: FiniteDuration = 50.millis

  /** @param patience
    *   after this time a failure is final
    * @param pause
    *   between a failure and the next request
    * @param passes
    *   whether a failure may pass
    */
  def apply[A](patience: FiniteDuration, pause: FiniteDuration, passes: Throwable => Boolean)(
      request: () => CompletableFuture[A]
  ): CompletableFuture[A] = {
    val deadline = System.nanoTime() + patience.toNanos

    def attempt(): CompletableFuture[A] = request()
      .handle[CompletableFuture[A]] { (answer, failure) =>
        if (failure == null) CompletableFuture.completedFuture(answer)
        else if (!passes(failure) || System.nanoTime() - deadline >= 0L) CompletableFuture.failedFuture(failure)
        else later(pause)(attempt())
      }
      .thenCompose(identity(_))

    attempt()
  }

  /** Sends a request after a pause. */
  def later[A](pause: FiniteDuration)(request: => CompletableFuture[A]): CompletableFuture[A] =
    CompletableFuture
      .supplyAsync[CompletableFuture[A]](() => request,
        CompletableFuture.delayedExecutor(pause.toMillis, TimeUnit.MILLISECONDS))
      .thenCompose(identity(_))
}
