package io.github.pulsarspark.pulsar.topics

import org.apache.pulsar.client.api.PulsarClientException

/** Matches failures that mean that a topic or partition does not exist. */
private[pulsar] object TopicMissing {
  def unapply(failure: Throwable): Option[Throwable] = Iterator.iterate(failure)(_.getCause).takeWhile(_ != null).find {
    case _: PulsarClientException.NotFoundException | _: PulsarClientException.TopicDoesNotExistException => true
    case _                                                                                                => false
  }
}
