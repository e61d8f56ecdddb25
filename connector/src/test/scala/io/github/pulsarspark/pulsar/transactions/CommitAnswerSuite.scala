package io.github.pulsarspark.pulsar.transactions

import java.util.concurrent.{CompletionException, TimeoutException}

import scala.util.Random

import org.apache.pulsar.client.api.transaction.TransactionCoordinatorClientException._

import io.github.pulsarspark.UnitSuite

class CommitAnswerSuite extends UnitSuite {

  private val foreign =
    "Client (app2) is neither the owner of the transaction (0,0) nor a super user"

  test("answers to a commit, committed after success alone") {
    assertEquals(CommitAnswer(null), CommitAnswer.Committed)
    Seq(
      new TransactionNotFoundException("Transaction not found"),
      new InvalidTxnStatusException("Expect Txn to be in COMMITTING status but it is in COMMITTED status"),
      new InvalidTxnStatusException("it is in ABORTED status"),
      new CoordinatorNotFoundException("none"),
      new TimeoutException,
      new RuntimeException(null: String)
    ).foreach(e => assert(CommitAnswer(e).isInstanceOf[CommitAnswer.Uncertain], e))
  }

  test("other credentials are told apart by the text, however it is wrapped") {
    val random = new Random(1)
    (1 to 50).foreach { _ =>
      val bare    = new TransactionNotFoundException(foreign)
      val wrapped = (0 until random.nextInt(4)).foldLeft[Throwable](bare)((e, _) => new CompletionException(e))
      assertEquals(CommitAnswer(wrapped), CommitAnswer.NotOwner(foreign))
    }
  }
}
