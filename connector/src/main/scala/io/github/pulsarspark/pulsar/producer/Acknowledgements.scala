package io.github.pulsarspark.pulsar.producer

import java.util.concurrent.CompletableFuture
import java.util.concurrent.atomic.{AtomicLong, AtomicReference}

import org.apache.pulsar.client.api.MessageId

/** Results of the messages that were handed to the client. For any thread.
  *
  * @param refused
  *   why messages with this id and this highest sequence id count as failed, although the broker acknowledged them
  */
private[producer] final class Acknowledgements(refused: (MessageId, Long) => Option[Throwable] = (_, _) => None) {
  private val confirmed    = new AtomicLong
  private val firstFailure = new AtomicReference[Throwable]

  /** Counts these messages when the response arrives.
    *
    * @param sequenceId
    *   the highest one of them, where the row has it; one that the client gives is new
    */
  def await(messages: Int, answer: CompletableFuture[MessageId], sequenceId: Long = Long.MaxValue): Unit = {
    answer.whenComplete { (id, error) =>
      if (error != null) fail(error)
      else refused(id, sequenceId).fold[Unit] { confirmed.addAndGet(messages.toLong); () }(fail)
    }
    ()
  }

  /** Records the first failure; ignores later ones. */
  def fail(error: Throwable): Unit = { firstFailure.compareAndSet(null, error); () }

  def count: Long = confirmed.get

  /** Null while nothing has failed. */
  def failure: Throwable = firstFailure.get
}
