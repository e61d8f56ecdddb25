package io.github.pulsarspark.pulsar.transactions

import java.util.concurrent.atomic.AtomicBoolean
import java.util.concurrent.{CompletableFuture, CompletionException}

import scala.concurrent.duration._
import scala.util.Using

import org.apache.pulsar.client.api.PulsarClientException.TimeoutException

import io.github.pulsarspark.cluster.WriteSuite

class TransactionCoordinatorSuite extends WriteSuite {

  private def coordinated[A](test: TransactionCoordinator => A): A = {
    val coordinator = TransactionCoordinator.acquire(client())
    try test(coordinator)
    finally coordinator.close()
  }

  test("a transaction begun and committed, two requests") {
    coordinated { coordinator =>
      val id = coordinator.begin(1.minute)
      assertEquals(coordinator.answer(coordinator.commit(id)), CommitAnswer.Committed)
      assertEquals(requests(), Seq("begin", "commit"))
    }
  }

  test("a transaction that is aborted, before, after another end, and when nobody knows it: it has ended") {
    coordinated { coordinator =>
      val (open, committed) = (coordinator.begin(1.minute), coordinator.begin(1.minute))
      coordinator.answer(coordinator.commit(committed))
      val unknown = TransactionId(0, 4711)
      for (id <- Seq(open, open, committed, unknown)) assert(coordinator.isEnded(id, coordinator.abort(id)), id)
    }
  }

  test("a commit after an abort: uncertain, never committed") {
    coordinated { coordinator =>
      val id = coordinator.begin(1.minute)
      coordinator.isEnded(id, coordinator.abort(id))
      coordinator.answer(coordinator.commit(id)) match {
        case CommitAnswer.Uncertain(_) => ()
        case other                     => fail(other.toString)
      }
    }
  }

  test("topic partitions are registered with an open transaction; one that has ended refuses them") {
    coordinated { coordinator =>
      val id = coordinator.begin(1.minute)
      coordinator.register(id, Seq(topic("a"), topic("b")))
      assertEquals(requests(), Seq("begin", "register a, b"))
      assertEquals(coordinator.refusal(coordinator.registering(id, Seq(topic("a")))), None)
      coordinator.answer(coordinator.commit(id))
      def late = coordinator.registering(id, Seq(topic("a")))
      assert(coordinator.refusal(late).nonEmpty)
      assert(coordinator.isEnding(late))
    }
  }

  test("a transaction at each coordinator that exists; those that were begun for others are aborted") {
    coordinated { coordinator =>
      assertEquals(coordinator.beginAtEach(Set(0L), 1.minute).map(_.coordinator), Seq(0L))
      assertEquals(requests(), Seq("begin"))
      assertEquals(coordinator.beginAtEach(Set(7L), 1.minute), Nil)
      val (begun, others) = requests().partition(_ == "begin")
      assertEquals(begun.size -> others, 64 -> Seq.fill(64)("abort"))
    }
  }

  test("a client whose requests get no response is replaced: in this coordinator, and for the next one") {
    val short = client("operationTimeoutMs" -> "4000") // others must get their responses on a busy machine
    Using.resource(TransactionCoordinator.acquire(short)) { coordinator =>
      val id = coordinator.begin(1.minute)
      cluster.writes.hearsCoordinatorClients = false // until a client connects to a coordinator
      assertNotEquals(coordinator.answer(coordinator.commit(id)), CommitAnswer.Committed)
      assertEquals(coordinator.answer(coordinator.commit(id)), CommitAnswer.Committed)

      cluster.writes.hearsCoordinatorClients = false
      assertEquals(condition(coordinator.begin(1.minute)), "PULSAR_UNREACHABLE")
    }
    Using.resource(TransactionCoordinator.acquire(short))(_.begin(1.minute))
  }

  test("who waits for a response that does not come finds its client marked") {
    for (failure <- Seq(new TimeoutException("no response"), new CompletionException(new TimeoutException("none")))) {
      val (response, isSilent, seen) = (new CompletableFuture[Int], new AtomicBoolean, new AtomicBoolean)
      val awaited                    = TransactionCoordinator.ifSilent(response)(isSilent.set(true))
      awaited.whenComplete((_, _) => seen.set(isSilent.get))
      response.completeExceptionally(failure)
      assert(seen.get, failure)
    }
    val (refused, isSilent) = (new CompletableFuture[Int], new AtomicBoolean)
    TransactionCoordinator.ifSilent(refused)(isSilent.set(true))
    refused.completeExceptionally(new IllegalStateException("refused"))
    assert(!isSilent.get)
  }

  test("a cluster without coordinators: an error that says so") {
    cluster.writes.hasCoordinator = false
    try assertEquals(condition(TransactionCoordinator.acquire(client("operationTimeoutMs" -> "3000"))),
        "PULSAR_TRANSACTIONS_UNAVAILABLE")
    finally cluster.writes.hasCoordinator = true
  }
}
