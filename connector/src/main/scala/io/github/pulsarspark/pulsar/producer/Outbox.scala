package io.github.pulsarspark.pulsar.producer

import io.github.pulsarspark.schema.columns.OutgoingMessage

/** The way of messages to the client. One thread uses it. */
private[producer] trait Outbox {

  /** Sends a message. Waits while the client's queue is full. Keeps the objects that the message refers to, but not the
    * message.
    */
  def send(message: OutgoingMessage): Unit

  /** Hands all buffered messages to the client. */
  def flush(): Unit

  /** Discards the buffered messages. */
  def discard(): Unit
}
