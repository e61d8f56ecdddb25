package io.github.pulsarspark.pulsar.transactions

import java.nio.charset.StandardCharsets.UTF_8
import java.util.concurrent.CompletionException

import scala.annotation.tailrec

import org.apache.pulsar.client.api.{Producer, PulsarClientException}

import io.github.pulsarspark.errors.{Conditions, FirstLine, PulsarError}
import io.github.pulsarspark.pulsar.connection.ClusterCalls

/** Appends records to a control topic. Several threads may use it. */
private[pulsarspark] final class ControlProducer private[transactions] (
    topic: String,
    producer: Producer[Array[Byte]],
    calls: ClusterCalls
) extends AutoCloseable {

  @volatile private var hasFailed = false

  /** True if every record was sent. After a failed one, the topic may be terminated, or the producer fenced or closed
    * for good.
    */
  def isUsable: Boolean = !hasFailed

  /** Waits until the record is stored, which may be twice. After a failure it may be stored nevertheless, or be later,
    * unless it is `PULSAR_MESSAGE_TOO_LARGE`.
    *
    * @return
    *   its id, `ledger:entry`
    */
  def append(record: String): String = start(record, None)()

  /** Sends the record. The function that it returns waits as [[append]] does. */
  def start(record: String, transaction: Option[TaskTransaction]): () => String = {
    transaction.foreach(_.register(topic))
    val message = producer.newMessage().value(record.getBytes(UTF_8))
    transaction.foreach(_.stamp(message))
    val lost   = TaskTransaction.lostConnections(Seq(producer))
    val answer = message.sendAsync().exceptionally { e =>
      hasFailed = true
      throw named(e)
    }
    () => {
      val id          = calls.await(s"Appending to $topic")(answer)
      val isDropped   = TaskTransaction.isDropped(id)
      val isRepeating = TaskTransaction.mayRepeat(lost, TaskTransaction.lostConnections(Seq(producer)))
      if (isRepeating && transaction.isDefined) throw Conditions.WriteConnectionLost(topic = topic).exception
      else if (isRepeating && isDropped) append(record) // the topic has it, but where is not known
      else if (isDropped) throw Conditions.WriteDuplicateDropped(topic = topic).exception
      else RecordId.text(id)
    }
  }

  @tailrec
  private def named(e: Throwable): Throwable = e match {
    case c: CompletionException if c.getCause != null     => named(c.getCause)
    case f: PulsarClientException.ProducerFencedException => Conditions.SinkFenced(topic = topic).causedBy(f)
    case p: Throwable with PulsarError                    => p
    case i: PulsarClientException.InvalidMessageException =>
      Conditions.MessageTooLarge(topic = topic, cause = FirstLine(i)).causedBy(i)
    case other => Conditions.SinkTopic(topic = topic, cause = FirstLine(other)).causedBy(other)
  }

  override def close(): Unit = { producer.closeAsync(); () }
}
