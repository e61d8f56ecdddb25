package io.github.pulsarspark.pulsar.connection

import java.io.IOException
import java.util.concurrent.{CompletableFuture, CompletionException}

import scala.annotation.tailrec
import scala.concurrent.duration._

import org.apache.pulsar.client.api.PulsarClientException

/** Requests whose connection goes away before the answer. The client repeats some of its requests then, not all. */
private[pulsarspark] object LostConnection {
  private val Pause = 50.millis

  /** Whether the request failed because its connection went away. A connection that cannot be made is something else.
    */
  @tailrec
  def caused(failure: Throwable): Boolean = failure match {
    case e: CompletionException if e.getCause != null => caused(e.getCause)
    case e: PulsarClientException => e.isInstanceOf[PulsarClientException.ConnectException] && e.getCause == null
    case _: IOException           => true // netty's, such as a channel that was closed before the request was written
    case _                        => false
  }

  /** Sends a request, which must be safe to repeat, until an answer of the cluster arrives or the time is over. */
  def repeat[A](patience: FiniteDuration)(request: () => CompletableFuture[A]): CompletableFuture[A] =
    RepeatedRequest(patience, Pause, caused)(request)
}
