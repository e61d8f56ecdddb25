package io.github.pulsarspark.pulsar.producer

import java.util.concurrent.CompletableFuture
import java.util.concurrent.atomic.{AtomicLong, AtomicReference}

import org.apache.pulsar.client.api.MessageId

/** What became of the messages that were handed to the client. For any thread.
  *
  * @param refused
  *   why messages with this id count as failed, although the broker acknowledged them
  */
private[producer] final class Acknowledgements(refused: MessageId => Option[Throwable] = _ => None) {
  private val confirmed    = new AtomicLong
  private val firstFailure = new AtomicReference[Throwable]

  /** Counts so many messages when the answer arrives. */
  def await(messages: Int, answer: CompletableFuture[MessageId]): Unit = {
    answer.whenComplete { (id, error) =>
      if (error != null) fail(error)
      else refused(id).fold[Unit] { confirmed.addAndGet(messages.toLong); () }(fail)
    }
    ()
  }

  /** Only the first failure is kept. */
  def fail(error: Throwable): Unit = { firstFailure.compareAndSet(null, error); () }

  def count: Long = confirmed.get

  /** Null while nothing has failed. */
  def failure: Throwable = firstFailure.get
}
