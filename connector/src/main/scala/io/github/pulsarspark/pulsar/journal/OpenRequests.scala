package io.github.pulsarspark.pulsar.journal

import java.util.concurrent.{CompletableFuture, ConcurrentHashMap}

import org.apache.pulsar.client.api.PulsarClientException

/** Requests of a consumer or reader, which fail when it is closed. The client sends some again until their time is
  * over, although their consumer was closed meanwhile (`ConsumerImpl.internalGetLastMessageIdAsync`, Pulsar 4.2.4).
  */
private[journal] final class OpenRequests {
  private val open               = ConcurrentHashMap.newKeySet[CompletableFuture[_]]
  @volatile private var isClosed = false

  /** Returns the response, which fails when [[close]] is called before it arrives. */
  def until[A](response: CompletableFuture[A]): CompletableFuture[A] = {
    open.add(response)
    if (isClosed) fail(response)
    response.whenComplete { (_, _) => open.remove(response); () }
  }

  def close(): Unit = {
    isClosed = true
    open.forEach(fail(_))
  }

  private def fail(response: CompletableFuture[_]): Unit = {
    response.completeExceptionally(new PulsarClientException.AlreadyClosedException("it was closed meanwhile"))
    ()
  }
}
