package io.github.pulsarspark.client

import org.apache.pulsar.client.api.PulsarClientException

/** Matches failures that mean that a topic or partition does not exist. */
private[client] object TopicMissing {
  def unapply(failure: Throwable): Option[Throwable] = Iterator.iterate(failure)(_.getCause).takeWhile(_ != null).find {
    case _: PulsarClientException.NotFoundException | _: PulsarClientException.TopicDoesNotExistException => true
    case _                                                                                                => false
  }
}
