package io.github.pulsarspark.pulsar.connection

import java.util.concurrent.{CompletableFuture, CompletionException}

import scala.annotation.tailrec

import org.apache.pulsar.client.api.PulsarClientException
import org.apache.pulsar.client.impl.PulsarClientImpl

/** Detects a cluster that refuses this client. The client repeats some requests, such as the list of topics, until the
  * operation timeout, whatever the reason, and then reports a timeout.
  */
private[pulsarspark] object RefusedConnection {

  /** Fails if the cluster refuses the credentials; else succeeds, whether there is a connection or not: the request
    * that follows waits for one. It uses the connection of that request.
    */
  def check(client: PulsarClientImpl): CompletableFuture[Unit] =
    client.getConnectionToServiceUrl.handle[Unit] { (_, failure) =>
      if (isOfCredentials(failure)) throw new CompletionException(failure)
    }

  @tailrec
  private def isOfCredentials(failure: Throwable): Boolean = failure match {
    case null                                                                                               => false
    case _: PulsarClientException.AuthenticationException | _: PulsarClientException.AuthorizationException => true
    case other => isOfCredentials(other.getCause)
  }
}
