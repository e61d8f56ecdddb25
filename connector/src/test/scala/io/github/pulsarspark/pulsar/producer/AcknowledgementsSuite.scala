package io.github.pulsarspark.pulsar.producer

import java.util.concurrent.CompletableFuture

import org.apache.pulsar.client.api.MessageId
import org.apache.pulsar.client.impl.MessageIdImpl

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.pulsar.transactions.TaskTransaction

class AcknowledgementsSuite extends UnitSuite {
  private val stored  = CompletableFuture.completedFuture[MessageId](new MessageIdImpl(3, 4, -1))
  private val dropped = CompletableFuture.completedFuture[MessageId](new MessageIdImpl(-1, -1, -1))

  test("messages count when their answer arrives; the first failure is kept") {
    val answers = new Acknowledgements
    val later   = new CompletableFuture[MessageId]
    answers.await(7, later)
    assertEquals(answers.count, 0L)
    later.complete(new MessageIdImpl(3, 4, -1))
    answers.await(1, dropped)
    assertEquals((answers.count, answers.failure), (8L, null))
    val first = new RuntimeException("first")
    answers.await(5, CompletableFuture.failedFuture[MessageId](first))
    answers.await(5, CompletableFuture.failedFuture[MessageId](new RuntimeException("second")))
    assertEquals((answers.count, answers.failure), (8L, first))
  }

  test("a batch that the broker dropped fails the task where that is no answer") {
    val refused = new RuntimeException("dropped")
    val answers = new Acknowledgements((id, _) => Option.when(TaskTransaction.isDropped(id))(refused))
    answers.await(1000, stored)
    assertEquals((answers.count, answers.failure), (1000L, null))
    answers.await(1000, dropped)
    assertEquals((answers.count, answers.failure), (1000L, refused))
  }
}
