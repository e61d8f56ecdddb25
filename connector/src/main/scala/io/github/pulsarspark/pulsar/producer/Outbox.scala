package io.github.pulsarspark.pulsar.producer

import io.github.pulsarspark.schema.columns.OutgoingMessage

/** The way of messages to the client. One thread uses it. */
private[producer] trait Outbox {

  /** Waits while the client's queue is full. Keeps nothing of the message but what it refers to. */
  def send(message: OutgoingMessage): Unit

  /** Hands over to the client what is still here. */
  def flush(): Unit

  /** Gives up what is still here. */
  def discard(): Unit
}
