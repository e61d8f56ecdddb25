package io.github.pulsarspark.pulsar.feed

import java.util.concurrent.CompletableFuture

import scala.util.Try

import io.github.pulsarspark.pulsar.connection.ClusterCalls

/** A feed that is open or being opened. Whoever has this owns the feed, also one that opens after nobody waits for it
  * any more.
  */
private[pulsar] final class PendingFeed[F <: EntryFeed](opening: CompletableFuture[F]) {

  def whenOpen: CompletableFuture[F] = opening

  /** The feed, if it is open by now. */
  def ifOpen: Option[F] = Option.when(opening.isDone)(Try(opening.join).toOption).flatten

  /** True when it will never deliver or answer. */
  def isGone: Boolean = opening.isDone && ifOpen.forall(_.isGone)

  /** Waits until it is open. When that fails or the wait ends early, it is closed. */
  def await(answers: ClusterCalls, what: String): F =
    try answers.await(what)(opening)
    catch {
      case e: Throwable =>
        close()
        throw e
    }

  /** Closes the feed, now or as soon as it is open. Done when it is closed; nobody waits for one that may never open.
    */
  def close(): CompletableFuture[Void] = {
    val wasOpen = opening.isDone && !opening.isCompletedExceptionally
    val closing = opening.thenCompose[Void](_.closeAsync())
    if (wasOpen) closing else CompletableFuture.completedFuture(null)
  }
}
