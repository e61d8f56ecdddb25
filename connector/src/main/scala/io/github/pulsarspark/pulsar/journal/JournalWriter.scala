package io.github.pulsarspark.pulsar.journal

import java.util.concurrent.{CompletableFuture, CompletionException}

import org.apache.pulsar.client.api.PulsarClientException
import org.apache.pulsar.client.impl.ProducerImpl

import io.github.pulsarspark.errors.{Conditions, FirstLine}
import io.github.pulsarspark.position.Position
import io.github.pulsarspark.pulsar.connection.ClusterCalls

/** Appends records to a journal in the order of the calls. A record may be stored twice, with others between. */
private[pulsarspark] final class JournalWriter private[journal] (
    topic: String,
    producer: ProducerImpl[Array[Byte]],
    calls: ClusterCalls
) extends AutoCloseable {

  /** Size limit of a record. */
  val maxBytes: Int = producer.getConnectionHandler.getMaxMessageSize

  /** Completes when the record is stored, with its position. After a failure it may be stored nevertheless, also later.
    */
  def append(record: Array[Byte]): CompletableFuture[Position] =
    producer.sendAsync(record).handle[Position]((id, failure) =>
      if (failure == null) JournalReader.position(id) else throw explained(failure)
    )

  private def explained(failure: Throwable): Throwable = failure match {
    case e: CompletionException if e.getCause != null => explained(e.getCause)
    case e @ (_: PulsarClientException.TimeoutException | _: PulsarClientException.AuthorizationException) =>
      calls.explain(s"Appending to $topic", e)
    case e => Conditions.CheckpointStoreTopic(topic = topic, cause = FirstLine(e)).causedBy(e)
  }

  override def close(): Unit = { producer.closeAsync(); () }
}
