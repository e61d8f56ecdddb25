package io.github.pulsarspark.pulsar.producer

import java.util.concurrent.CompletableFuture
import java.util.concurrent.atomic.{AtomicLong, AtomicReference}

import org.apache.pulsar.client.api.MessageId

/** What became of the messages that were handed to the client. For any thread. */
private[producer] final class Acknowledgements {
  private val confirmed    = new AtomicLong
  private val firstFailure = new AtomicReference[Throwable]

  /** Counts so many messages when the answer arrives. */
  def await(messages: Int, answer: CompletableFuture[MessageId]): Unit = {
    answer.whenComplete { (_, error) =>
      if (error == null) confirmed.addAndGet(messages.toLong) else fail(error)
      ()
    }
    ()
  }

  /** Only the first failure is kept. */
  def fail(error: Throwable): Unit = { firstFailure.compareAndSet(null, error); () }

  def count: Long = confirmed.get

  /** Null while nothing has failed. */
  def failure: Throwable = firstFailure.get
}
