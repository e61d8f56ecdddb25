package io.github.pulsarspark.pulsar.transactions

import org.apache.pulsar.client.api.Consumer

import io.github.pulsarspark.pulsar.connection.ClusterCalls

/** The durable subscription of a control topic: prevents deletion of the records that are still needed. */
private[pulsarspark] final class ControlRetention private[transactions] (
    consumer: Consumer[Array[Byte]],
    calls: ClusterCalls
) extends AutoCloseable {

  /** The record and those before it are needed no more. Does not wait: records that stay do no harm. */
  def release(id: String): Unit = { consumer.acknowledgeCumulativeAsync(RecordId.parsed(id)); () }

  /** The topic is needed no more. */
  def end(): Unit = { calls.await("Ending a subscription")(consumer.unsubscribeAsync()); () }

  override def close(): Unit = { consumer.closeAsync(); () }
}
