package io.github.pulsarspark.pulsar.transactions

import java.util.concurrent.TimeUnit

import scala.jdk.CollectionConverters._

import org.apache.pulsar.client.api._
import org.apache.pulsar.client.impl.PulsarClientImpl

import io.github.pulsarspark.errors.{Conditions, FirstLine, PulsarError}
import io.github.pulsarspark.options.ClientOptions
import io.github.pulsarspark.pulsar.connection.ClusterCalls

/** A topic with the state of a sink: one that is not partitioned. */
private[pulsarspark] final class ControlTopic(client: PulsarClientImpl, options: ClientOptions, val name: String) {
  import ControlTopic._

  private val calls = new ClusterCalls(options, options.serviceUrl)

  /** Creates the topic with its subscription, which keeps unacknowledged records. */
  def retention(): ControlRetention = named {
    val partitions = calls.ask(s"Looking up topic $name")(() => client.getPartitionsForTopic(name, true)).asScala
    if (!partitions.headOption.contains(name) || partitions.size != 1)
      throw Conditions.SinkTopic(topic = name, cause = Partitioned).exception
    val opening = client
      .newConsumer(Schema.BYTES)
      .topic(name)
      .subscriptionName(Subscription)
      .subscriptionType(SubscriptionType.Failover)
      .subscriptionInitialPosition(SubscriptionInitialPosition.Earliest)
      .receiverQueueSize(1)
      .subscribeAsync()
    new ControlRetention(calls.awaitOwned(s"Subscribing to $name")(opening) { late => late.closeAsync(); () }, calls)
  }

  /** A producer that compresses where it writes alone: the record of an epoch names all its transactions. */
  def producer(access: ControlAccess): ControlProducer = named {
    val builder = client
      .newProducer(Schema.BYTES)
      .topic(name)
      .enableBatching(false)
      .sendTimeout(options.operationTimeout.toMillis.toInt, TimeUnit.MILLISECONDS)
    access match {
      case ControlAccess.Shared  => ()
      case ControlAccess.Fencing =>
        builder.accessMode(ProducerAccessMode.ExclusiveWithFencing).compressionType(CompressionType.LZ4)
      case ControlAccess.Alone =>
        builder.accessMode(ProducerAccessMode.Exclusive).compressionType(CompressionType.LZ4)
    }
    val opening = builder.createAsync()
    new ControlProducer(name,
      calls.awaitOwned(s"Opening a producer of $name")(opening) { late => late.closeAsync(); () }, calls)
  }

  /** @param from
    *   the first message, `ledger:entry`; the earliest one without it
    */
  def reader(from: Option[String] = None): ControlReader = named {
    val start   = from.fold(MessageId.earliest)(RecordId.parsed)
    val opening =
      client.newReader(Schema.BYTES).topic(name).startMessageId(start).startMessageIdInclusive().createAsync()
    new ControlReader(calls.awaitOwned(s"Opening a reader of $name")(opening) { late => late.closeAsync(); () }, calls)
  }

  private def named[A](open: => A): A =
    try open
    catch {
      case e: Throwable with PulsarError if !Conditions.RequestFailed.is(e) => throw e
      case e: Exception => throw Conditions.SinkTopic(topic = name, cause = FirstLine(e)).causedBy(e)
    }
}

private[pulsarspark] object ControlTopic {

  /** Durable subscription of each control topic. */
  private val Subscription = "pulsar-spark-sink"

  /** Brokers whose policy is to create partitioned topics create it, so it is in the way after the policy changed. */
  private val Partitioned = "it is partitioned. Delete it, then let the namespace create topics without partitions, " +
    "or create its `-log`, `-open` and `-mark` without partitions before"

  /** True if a producer was refused because another one is connected. */
  def isTaken(refused: Throwable): Boolean = Iterator.iterate(refused)(_.getCause).takeWhile(_ != null).exists {
    case _: PulsarClientException.ProducerBusyException | _: PulsarClientException.ProducerFencedException => true
    case _                                                                                                 => false
  }
}
