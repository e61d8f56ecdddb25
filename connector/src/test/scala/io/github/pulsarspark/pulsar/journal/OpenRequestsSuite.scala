package io.github.pulsarspark.pulsar.journal

import java.util.concurrent.{CompletableFuture, ExecutionException}

import org.apache.pulsar.client.api.PulsarClientException

import io.github.pulsarspark.UnitSuite

class OpenRequestsSuite extends UnitSuite {
  private def isEnded(response: CompletableFuture[_]) = response.isDone &&
    intercept[ExecutionException](response.get()).getCause.isInstanceOf[PulsarClientException.AlreadyClosedException]

  test("a response that does not arrive before the close: failed by it") {
    val requests = new OpenRequests
    val waiting  = requests.until(new CompletableFuture[Int])
    assert(!waiting.isDone)
    requests.close()
    assert(isEnded(waiting))
  }

  test("a request after the close: failed at once") {
    val requests = new OpenRequests
    requests.close()
    assert(isEnded(requests.until(new CompletableFuture[Int])))
  }

  test("a response, and the failure of a request: passed on, whatever is closed then") {
    val requests = new OpenRequests
    val answered = requests.until(CompletableFuture.completedFuture(1))
    val failed   = requests.until(CompletableFuture.failedFuture[Int](new IllegalStateException))
    requests.close()
    assertEquals(answered.get(), 1)
    assert(intercept[ExecutionException](failed.get()).getCause.isInstanceOf[IllegalStateException])
  }
}
