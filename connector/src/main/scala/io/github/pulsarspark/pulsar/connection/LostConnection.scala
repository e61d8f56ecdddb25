package io.github.pulsarspark.pulsar.connection

import java.io.IOException
import java.util.concurrent.CompletionException

import scala.annotation.tailrec

import org.apache.pulsar.client.api.PulsarClientException

/** Detects requests whose connection was lost before the response. The client repeats some of them, not all. */
private[pulsarspark] object LostConnection {

  /** True if the request failed because its open connection was lost; false if no connection could be made. */
  @tailrec
  def caused(failure: Throwable): Boolean = failure match {
    case e: CompletionException if e.getCause != null => caused(e.getCause)
    case e: PulsarClientException => e.isInstanceOf[PulsarClientException.ConnectException] && e.getCause == null
    case _: IOException           => true // netty's, such as a channel that was closed before the request was written
    case _                        => false
  }

  /** True if a request of a consumer or reader failed by that, or because the broker did not know the consumer: while a
    * topic moves, the broker has closed it, and the client has not heard of that.
    */
  def causedOfConsumer(failure: Throwable): Boolean = caused(failure) ||
    Iterator.iterate(failure)(_.getCause).takeWhile(_ != null).exists(
      _.isInstanceOf[PulsarClientException.BrokerMetadataException]
    )
}
