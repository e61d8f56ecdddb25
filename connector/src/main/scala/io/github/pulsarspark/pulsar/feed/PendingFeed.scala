package io.github.pulsarspark.pulsar.feed

import java.util.concurrent.CompletableFuture

import scala.util.Try

import io.github.pulsarspark.pulsar.connection.ClusterCalls

/** A feed that is open or being opened. The holder of this owns the feed, even one that opens after its wait was given
  * up.
  */
private[pulsar] final class PendingFeed[F <: PartitionFeed](opening: CompletableFuture[F]) {

  def whenOpen: CompletableFuture[F] = opening

  /** The feed, if it is open by now. */
  def ifOpen: Option[F] = Option.when(opening.isDone)(Try(opening.join).toOption).flatten

  /** True if it will never deliver or respond. */
  def isGone: Boolean = opening.isDone && ifOpen.forall(_.isGone)

  /** Waits until it is open. When that fails or the wait ends early, it is closed. */
  def await(answers: ClusterCalls, what: String): F =
    try answers.await(what)(opening)
    catch {
      case e: Throwable =>
        close()
        throw e
    }

  /** Closes the feed, now or as soon as it is open. The future completes when it is closed; do not wait for a feed that
    * may never open.
    */
  def close(): CompletableFuture[Void] = {
    val wasOpen = opening.isDone && !opening.isCompletedExceptionally
    val closing = opening.thenCompose[Void](_.closeAsync())
    if (wasOpen) closing else CompletableFuture.completedFuture(null)
  }
}
