package io.github.pulsarspark.pulsar.connection

import java.util.concurrent.CompletableFuture

import scala.concurrent.duration._

import io.github.pulsarspark.pulsar.topics.TopicMissing

/** Sends a lookup whose response is current. The client gives callers that look up the same thing at the same time one
  * response (`InProgressDeduplicationDecoratorLookupService`), and forgets it only after it has handed it out. A lookup
  * that follows at once may still find that response, which is older than the lookup: a partition that was added in the
  * meantime is missing there. A lookup that joins one under way shares its response, as the client intends.
  */
private[pulsar] object CurrentLookup {

  /** No thread of the client takes that long to forget a response. */
  private val Patience = 2.seconds

  private val Pause = 1.milli

  /** Repeats a lookup whose response is there at once, as no response of a broker can be. Another failure than that
    * nothing exists passes, whatever lookup it belongs to.
    */
  def apply[A](lookup: () => CompletableFuture[A]): CompletableFuture[A] = {
    val deadline = System.nanoTime() + Patience.toNanos

    def attempt(): CompletableFuture[A] = {
      val response = lookup()
      if (!isEarlier(response) || System.nanoTime() - deadline >= 0L) response
      else RepeatedRequest.later(Pause)(attempt())
    }

    attempt()
  }

  private def isEarlier(response: CompletableFuture[_]): Boolean =
    response.isDone &&
      response.handle[Boolean]((_, failure) => failure == null || TopicMissing.unapply(failure).isDefined).join()
}
