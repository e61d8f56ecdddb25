package io.github.pulsarspark.pulsar.connection

import java.util.concurrent.{CompletableFuture, CountDownLatch, LinkedBlockingQueue, TimeUnit}

import scala.util.Using

import org.apache.pulsar.client.api.PulsarClientException
import org.apache.pulsar.common.naming.TopicName

import io.github.pulsarspark.cluster.WriteSuite
import io.github.pulsarspark.pulsar.PulsarConnection
import io.github.pulsarspark.storage.KilledTasks.eventually

/** Lookups that follow one another at once. */
class CurrentLookupSuite extends WriteSuite {
  import CurrentLookupSuite._

  private val missing = new PulsarClientException.TopicDoesNotExistException("no such topic")

  private def partitions(name: String): Seq[String] =
    Using.resource(PulsarConnection(client()))(_.broker().partitions(Seq(topic(name)))).values.flatten.toSeq

  /** Looks up the topic, and keeps the client's thread busy between the response and what the client does after it. */
  private def lookUpAndBusy(name: String)(afterwards: => Unit): Unit =
    Using.resource(ClientPool.acquire(client())) { lease =>
      val isAnswered = new CountDownLatch(1)
      lease.client.getLookup.getPartitionedTopicMetadata(TopicName.get(topic(name)), false, true)
        .whenComplete { (_, _) =>
          isAnswered.countDown()
          new CountDownLatch(1).await(BusyMillis, TimeUnit.MILLISECONDS)
          ()
        }
      assert(isAnswered.await(60, TimeUnit.SECONDS))
      afterwards
    }

  test("a partition that was added after the response to an earlier lookup is found") {
    store("grown-partition-0")
    lookUpAndBusy("grown") {
      store("grown-partition-1")
      assertEquals(partitions("grown"), Seq(0, 1).map(i => topic(s"grown-partition-$i")))
    }
  }

  test("a topic that was created after the response to an earlier lookup is found") {
    lookUpAndBusy("born") {
      store("born-partition-0")
      assertEquals(partitions("born"), Seq(topic("born-partition-0")))
    }
  }

  test("an earlier response is requested again, a success or a missing topic, until one arrives later") {
    for (earlier <- Seq(CompletableFuture.completedFuture(1), CompletableFuture.failedFuture[Int](missing))) {
      val later    = new CompletableFuture[Int]
      val lookups  = new LinkedBlockingQueue(java.util.List.of(earlier, earlier, later))
      val response = CurrentLookup(() => lookups.remove())
      eventually("the later response is not waited for")(later.getNumberOfDependents > 0)
      later.complete(2)
      assertEquals(response.get(60, TimeUnit.SECONDS), 2)
      assert(lookups.isEmpty)
    }
  }

  test("a failure at once, as of a closed client, is final") {
    val closed = CompletableFuture.failedFuture[Int](new PulsarClientException.AlreadyClosedException("closed"))
    assert(CurrentLookup(() => closed) eq closed)
  }

  test("a response that is always there at once is taken after a while") {
    val there = CompletableFuture.completedFuture(1)
    assertEquals(CurrentLookup(() => there).get(60, TimeUnit.SECONDS), 1)
  }
}

private object CurrentLookupSuite {

  /** Longer than a lookup takes. */
  val BusyMillis = 300L
}
