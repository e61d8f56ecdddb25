package io.github.pulsarspark.pulsar.connection

import java.util.concurrent.{CompletableFuture, CompletionException}

import org.apache.pulsar.client.api.PulsarClientException

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.errors.PulsarException
import io.github.pulsarspark.options.ClientOptions
import io.github.pulsarspark.options.registry.{CheckedOptions, Scope}

class ClusterCallsSuite extends UnitSuite {
  private val url     = "pulsar://east:6650"
  private val options = ClientOptions(CheckedOptions(Map("service.url" -> url, "topic" -> "t"), Scope.BatchRead,
    _ => Nil))

  private def failing(failure: Throwable) = intercept[PulsarException](
    new ClusterCalls(options, url).await("Looking up topic t")(CompletableFuture.failedFuture[Unit](failure))
  )

  test("a namespace that is not in the cluster is named with the clusters that have it") {
    val text = "Namespace missing local cluster name in clusters list: local_cluster=east ns=a/b clusters=[west]"
    val e    = failing(new CompletionException(new PulsarClientException.BrokerMetadataException(text)))
    assertEquals(e.condition, "PULSAR_NAMESPACE_OF_OTHER_CLUSTERS")
    Seq("Looking up topic t", url, "clusters=[west]").foreach(word => assert(e.getMessage.contains(word), e.getMessage))
  }

  private val calls = new ClusterCalls(options, url)

  test("a call of the client that waits by itself: its result, or its failure with a name") {
    assertEquals(calls.blocking("Reading")(7), 7)
    val closed = new PulsarClientException.AlreadyClosedException("closed")
    assertEquals(intercept[PulsarException](calls.blocking("Reading")(throw closed)).condition, "PULSAR_REQUEST_FAILED")
    intercept[IllegalStateException](calls.blocking("Reading")(throw new IllegalStateException("a defect")))
  }

  test("an interruption of the client's own waits stays one, and is taken from the thread") {
    val interruption = new InterruptedException("stopped")
    val found        =
      try calls.blocking("Reading") {
          Thread.currentThread.interrupt() // as the client does
          throw new PulsarClientException(interruption)
        }
      catch { case e: Throwable => e }
    assertEquals(found, interruption)
    assert(!Thread.interrupted())
  }

  test("another refusal of a broker keeps its own words, also one without any") {
    Seq("Topic is fenced", null).foreach(text =>
      assertEquals(failing(new PulsarClientException.BrokerMetadataException(text)).condition, "PULSAR_REQUEST_FAILED")
    )
  }
}
