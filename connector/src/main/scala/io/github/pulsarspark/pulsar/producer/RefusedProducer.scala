package io.github.pulsarspark.pulsar.producer

import java.util.concurrent.{CompletableFuture, CompletionException, ExecutionException, TimeUnit, TimeoutException}

import scala.annotation.tailrec

import org.apache.pulsar.client.api.{Producer, PulsarClientException, Schema}

import io.github.pulsarspark.common.BoundedParallel
import io.github.pulsarspark.errors.{Conditions, FirstLine, Occurrence}
import io.github.pulsarspark.pulsar.connection.ClientLease

/** Maps a broker's refusal of a producer to a named condition. */
private[pulsar] object RefusedProducer {

  /** The text of `ProducerBusyException` when `maxProducersPerTopic` is reached; otherwise another producer is in the
    * way. Source: `AbstractTopic.internalAddProducer` of the broker.
    */
  private val LimitText = "max producers limit"

  /** Timeout of the request: a broker that does not respond in this time counts as an outage. */
  private val AskMillis = 5000L

  /** Producers that are opened at a time. */
  private val Parallelism = 64

  /** The named condition for a refusal; another failure as it is.
    *
    * @param url
    *   of the service
    * @param acknowledged
    *   how many messages were stored before
    */
  @tailrec
  def named(topic: String, failure: Throwable, url: String, acknowledged: Long = 0): Throwable = failure match {
    case e @ (_: CompletionException | _: ExecutionException) if e.getCause != null =>
      named(topic, e.getCause, url, acknowledged)
    case e: PulsarClientException.IncompatibleSchemaException =>
      Conditions.WriteSchemaRefused(topic = topic, cause = FirstLine(e)).causedBy(e)
    case _: PulsarClientException.TopicDoesNotExistException | _: PulsarClientException.NotFoundException =>
      Conditions.TopicNotFound(topic = topic, url = url).exception
    case e: PulsarClientException => reason(topic, after(acknowledged)).lift(e).fold[Throwable](e)(_.causedBy(e))
    case other                    => other
  }

  private def reason(topic: String, sent: String): PartialFunction[PulsarClientException, Occurrence] = {
    case _: PulsarClientException.TopicTerminatedException =>
      Conditions.WriteRefusedTerminated(topic = topic, sent = sent)
    case e @ (_: PulsarClientException.ProducerBlockedQuotaExceededError |
        _: PulsarClientException.ProducerBlockedQuotaExceededException) =>
      Conditions.WriteRefusedBacklogQuota(topic = topic, sent = sent, cause = FirstLine(e))
    case e: PulsarClientException.ProducerBusyException if FirstLine(e).contains(LimitText) =>
      Conditions.WriteRefusedProducerLimit(topic = topic, sent = sent, cause = FirstLine(e))
    case e @ (_: PulsarClientException.ProducerBusyException | _: PulsarClientException.ProducerFencedException) =>
      Conditions.WriteRefusedExclusive(topic = topic, sent = sent, cause = FirstLine(e))
  }

  private def after(acknowledged: Long) =
    if (acknowledged == 0) "" else s", after $acknowledged messages of this task were acknowledged"

  /** Requests the reason from the broker of a disconnected partition, by opening another producer. The client reopens
    * its own repeatedly and does not report the reason.
    */
  def ask(lease: ClientLease, producer: Producer[Array[Byte]], schema: Schema[Array[Byte]]): Option[Throwable] =
    BatchOutbox.partitionsOf(producer).find(!_.isConnected).flatMap(p => refusal(opening(lease, p.getTopic, schema)))

  /** Returns the terminated ones of these topic partitions. */
  def terminated(lease: ClientLease, topicPartitions: Seq[String]): Seq[String] =
    BoundedParallel(topicPartitions, Parallelism)(opening(lease, _, Schema.AUTO_PRODUCE_BYTES()))((topic, opening) =>
      refusal(opening).collect { case _: PulsarClientException.TopicTerminatedException => topic }
    ).flatten

  private def opening(lease: ClientLease, topic: String, schema: Schema[Array[Byte]]): CompletableFuture[_] = {
    val result = lease.client.newProducer(schema).topic(topic).createAsync()
    result.thenAccept { again => again.closeAsync(); () }
    result
  }

  private def refusal(opening: CompletableFuture[_]): Option[Throwable] =
    try {
      opening.get(AskMillis, TimeUnit.MILLISECONDS)
      None
    } catch {
      case e: ExecutionException => Some(e.getCause)
      case _: TimeoutException   => None
    }
}
