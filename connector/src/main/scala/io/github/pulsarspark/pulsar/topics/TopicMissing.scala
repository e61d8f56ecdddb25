package io.github.pulsarspark.pulsar.topics

import java.util.concurrent.CompletionException

import org.apache.pulsar.client.api.PulsarClientException

/** Matches failures that mean that a topic or partition does not exist. */
private[pulsar] object TopicMissing {
  def unapply(failure: Throwable): Option[Throwable] = Iterator.iterate(failure)(_.getCause).takeWhile(_ != null).find {
    case _: PulsarClientException.NotFoundException | _: PulsarClientException.TopicDoesNotExistException => true
    case _                                                                                                => false
  }

  /** Skips missing topics: turns that failure into None, and keeps other failures. */
  def skip[A]: java.util.function.Function[Throwable, Option[A]] = {
    case TopicMissing(_) => None
    case e               => throw new CompletionException(e)
  }
}
