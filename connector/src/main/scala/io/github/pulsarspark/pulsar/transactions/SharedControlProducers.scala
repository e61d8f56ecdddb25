package io.github.pulsarspark.pulsar.transactions

import io.github.pulsarspark.common.{SharedLease, SharedPool}
import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.options.ClientOptions
import io.github.pulsarspark.pulsar.connection.{ClientLease, ClientPool}

/** The producers of control topics that the tasks of this JVM share. One without users is kept for a while. */
private[pulsarspark] object SharedControlProducers {

  private final class Open(val producer: ControlProducer, lease: ClientLease) {
    def close(): Unit =
      try producer.close()
      finally lease.close()
  }

  private val pool = new SharedPool[(ClientOptions, String), Open](
    "producer of a control topic",
    { case (options, topic) => open(options, topic) },
    _.close(),
    _._1.operationTimeout * 2,
    { case (_, topic) => Conditions.SinkTopic(topic = topic, cause = "a producer does not open in time").exception },
    isUsable = _.producer.isUsable
  )

  def acquire(options: ClientOptions, topic: String): SharedLease[ControlProducer] = {
    val shared = pool.acquire((options, topic))
    new SharedLease(shared.value.producer, () => shared.close())
  }

  private def open(options: ClientOptions, topic: String): Open = {
    val lease = ClientPool.acquire(options)
    try new Open(new ControlTopic(lease.client, options, topic).producer(ControlAccess.Shared), lease)
    catch { case e: Throwable => lease.close(); throw e }
  }
}
