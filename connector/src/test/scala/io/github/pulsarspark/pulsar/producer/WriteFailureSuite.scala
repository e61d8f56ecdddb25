package io.github.pulsarspark.pulsar.producer

import java.util.concurrent.{CompletableFuture, CompletionException}

import org.apache.pulsar.client.api.{MessageId, Producer, PulsarClientException, TypedMessageBuilder}
import org.apache.pulsar.client.impl.MessageIdImpl

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.errors.{Conditions, PulsarError}
import io.github.pulsarspark.options.WriteOptions
import io.github.pulsarspark.options.registry.{CheckedOptions, Scope}
import io.github.pulsarspark.schema.columns.OutgoingMessage

class WriteFailureSuite extends UnitSuite {
  import PulsarClientException._

  private val options = WriteOptions(CheckedOptions(
    Map("service.url" -> "pulsar://h:1", "sendTimeoutMs" -> "1000"),
    Scope.BatchWrite,
    _ => Nil
  ))

  /** Failure of a task that sent two messages, of which the second fails with `answer`. */
  private def failureOf(
      answer: Throwable,
      isConnected: Boolean = false,
      why: Long => Option[Throwable] = _ => None
  ): Throwable with PulsarError = {
    val answers = Iterator(CompletableFuture.completedFuture[MessageId](new MessageIdImpl(1, 2, -1)),
      CompletableFuture.failedFuture[MessageId](answer))
    lazy val message: TypedMessageBuilder[Array[Byte]] = ByName[TypedMessageBuilder[Array[Byte]]] {
      case "value"     => message
      case "sendAsync" => answers.next()
    }
    val producer = ByName[Producer[Array[Byte]]] {
      case "getNumOfPartitions" => Int.box(0)
      case "newMessage"         => message
      case "flushAsync"         => CompletableFuture.completedFuture(null)
      case "isConnected"        => Boolean.box(isConnected)
    }
    val writing = new TopicProducer("t", new OpenProducer(producer, None, () => (), askWhyRefused = why), options)
    writing.send(new OutgoingMessage)
    writing.send(new OutgoingMessage)
    intercept[RuntimeException](writing.flush()).asInstanceOf[RuntimeException with PulsarError]
  }

  test("a failure of one message fails the task, with the cause and what is stored") {
    val failure = failureOf(new CompletionException(new PulsarClientException("no bookies")))
    assertEquals(failure.condition, "PULSAR_WRITE_FAILED")
    assertEquals(failure.parameters("acknowledged"), "1")
    assert(failure.getMessage.contains("no bookies"), failure.getMessage)
  }

  test("a refused message names the refusal") {
    for (
      (answer, condition) <- Seq(
        new TopicTerminatedException("")                         -> "PULSAR_WRITE_REFUSED.TERMINATED",
        new ProducerBlockedQuotaExceededError("")                -> "PULSAR_WRITE_REFUSED.BACKLOG_QUOTA",
        new ProducerBlockedQuotaExceededException("")            -> "PULSAR_WRITE_REFUSED.BACKLOG_QUOTA",
        new ProducerFencedException("")                          -> "PULSAR_WRITE_REFUSED.EXCLUSIVE",
        new ProducerBusyException("an existing exclusive one")   -> "PULSAR_WRITE_REFUSED.EXCLUSIVE",
        new ProducerBusyException("reached max producers limit") -> "PULSAR_WRITE_REFUSED.PRODUCER_LIMIT",
        new IncompatibleSchemaException("")                      -> "PULSAR_WRITE_SCHEMA_REFUSED",
        new TopicDoesNotExistException("")                       -> "PULSAR_TOPIC_NOT_FOUND"
      )
    ) assertEquals(failureOf(answer).condition, condition, answer)
  }

  test("a refusal says what the task had stored before") {
    val failure = failureOf(new TopicTerminatedException(""))
    assert(failure.getMessage.contains("messages, after 1 messages of this task were acknowledged."),
      failure.getMessage)
    assert(Conditions.WriteRefusedTerminated.is(RefusedProducer.named("t", new TopicTerminatedException(""), "")))
  }

  test("messages that time out while the producer is disconnected have the reason of the broker, if there is one") {
    val refused = Conditions.WriteRefusedTerminated(topic = "t", sent = "").exception
    val late    = new TimeoutException("")
    assertEquals(failureOf(late, why = _ => Some(refused)), refused)
    assertEquals(failureOf(late, why = _ => None).condition, "PULSAR_WRITE_TIMEOUT")
    assertEquals(failureOf(late, isConnected = true, _ => fail("it is connected")).condition, "PULSAR_WRITE_TIMEOUT")
  }
}
