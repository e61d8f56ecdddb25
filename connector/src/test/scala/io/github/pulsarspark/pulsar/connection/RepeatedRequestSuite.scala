package io.github.pulsarspark.pulsar.connection

import java.nio.channels.ClosedChannelException
import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.{CompletableFuture, ExecutionException, TimeUnit}

import scala.concurrent.duration._

import org.apache.pulsar.client.api.PulsarClientException

import io.github.pulsarspark.UnitSuite

class RepeatedRequestSuite extends UnitSuite {

  private val disconnected = new PulsarClientException.ConnectException("Disconnected from server")

  /** The answers of one request after another. */
  private def answers(patience: FiniteDuration)(failures: Throwable*): (CompletableFuture[String], AtomicInteger) = {
    val sent   = new AtomicInteger
    val answer = RepeatedRequest(patience, RepeatedRequest.Pause, LostConnection.caused) { () =>
      failures
        .lift(sent.getAndIncrement())
        .fold(CompletableFuture.completedFuture("answer"))(CompletableFuture.failedFuture[String](_))
    }
    (answer, sent)
  }

  private def failure(answer: CompletableFuture[String]): Throwable =
    intercept[ExecutionException](answer.get(60, TimeUnit.SECONDS)).getCause

  test("a request is sent again as often as its connection is lost, until the deadline") {
    val (answered, sent) = answers(1.minute)(new ClosedChannelException, disconnected)
    assertEquals(answered.get(60, TimeUnit.SECONDS), "answer")
    assertEquals(sent.get, 3)
    val (late, once) = answers(Duration.Zero)(disconnected)
    assertEquals(failure(late), disconnected)
    assertEquals(once.get, 1)
  }

  test("a refusal of the cluster, no repetition") {
    val denied          = new PulsarClientException.AuthorizationException("no")
    val (refused, sent) = answers(1.minute)(disconnected, denied)
    assertEquals(failure(refused), denied)
    assertEquals(sent.get, 2)
  }
}
