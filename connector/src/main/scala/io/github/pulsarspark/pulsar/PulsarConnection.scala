package io.github.pulsarspark.pulsar

import scala.collection.concurrent.TrieMap

import org.apache.pulsar.common.naming.TopicName

import io.github.pulsarspark.common.SharedLease
import io.github.pulsarspark.options.{ClientOptions, WriteOptions}
import io.github.pulsarspark.pulsar.admin.AdminApi
import io.github.pulsarspark.pulsar.broker.{BrokerApi, OtherProducers, PulsarBroker}
import io.github.pulsarspark.pulsar.connection.{ClientLease, ClientPool, ClusterCalls, ServiceHost}
import io.github.pulsarspark.pulsar.journal.JournalTopic
import io.github.pulsarspark.pulsar.producer.{RefusedProducer, TopicProducer}
import io.github.pulsarspark.pulsar.progress.ProgressSubscription
import io.github.pulsarspark.pulsar.transactions.{ControlProducer, ControlTopic, SharedControlProducers, TaskTransaction, TransactionCoordinator}
import io.github.pulsarspark.schema.TopicSchema

/** The one way to a cluster. Holds a client of the JVM's pool and returns it when closed. Closing it twice does no
  * harm.
  */
private[pulsarspark] final class PulsarConnection private (lease: ClientLease) extends AutoCloseable {

  private val brokers = TrieMap.empty[(String, Boolean), PulsarBroker]

  /** Requests over the binary protocol, which end with this connection. Equal arguments return the same object.
    *
    * @param subscriptionPrefix
    *   start of the names of the subscriptions that requests for positions open
    * @param readCompacted
    *   true for positions in the compacted view of topics
    */
  def broker(
      subscriptionPrefix: String = PulsarConnection.SubscriptionPrefix,
      readCompacted: Boolean = false
  ): BrokerApi =
    brokers.getOrElseUpdate(
      (subscriptionPrefix, readCompacted),
      new PulsarBroker(lease.client, lease.options, subscriptionPrefix, readCompacted)
    )

  /** Follows a stream with a durable subscription. Its user closes it. */
  def progress(subscription: String): ProgressSubscription =
    ProgressSubscription(lease.client, lease.options, subscription)

  /** The admin service; None without `admin.url`. */
  def admin: Option[AdminApi] = lease.admin

  /** Opens a producer with the schema, which the broker registers or compares. Its user closes it.
    *
    * @param columns
    *   metadata columns of the rows to send
    * @param isKept
    *   whether it may be one that an earlier task left, and is left to a later one
    * @param transaction
    *   in which all messages are sent
    */
  def producer(
      topic: String,
      schema: TopicSchema,
      options: WriteOptions,
      columns: Set[String] = Set.empty,
      isKept: Boolean = false,
      transaction: Option[TaskTransaction] = None
  ): TopicProducer =
    if (isKept) TopicProducer.openKept(lease, topic, schema, options, columns, transaction)
    else TopicProducer.open(lease, topic, schema, options, columns, transaction)

  /** True if others than producers of this prefix wrote into one of these topic partitions, or if it took longer than
    * `operationTimeoutMs` to read all messages.
    */
  def mayHaveOthers(topicPartitions: Seq[String], prefix: String): Boolean =
    OtherProducers.mayHaveWritten(lease, topicPartitions, prefix)

  /** Closes the producers of a topic that earlier tasks of this JVM left to later ones. */
  def closeKeptProducers(topic: String): Unit = TopicProducer.closeKept(topic, lease.options.operationTimeout)

  /** Returns the terminated ones of these topic partitions, by opening a producer of each. */
  def terminated(topicPartitions: Seq[String]): Seq[String] = RefusedProducer.terminated(lease, topicPartitions)

  /** Begins and ends transactions. Its user closes it. */
  def transactions(): TransactionCoordinator = TransactionCoordinator.acquire(lease.options)

  /** A topic with the state of a sink. */
  def control(topic: String): ControlTopic = new ControlTopic(lease.client, lease.options, topic)

  /** A topic with the records of a checkpoint store. */
  def journal(topic: String): JournalTopic = new JournalTopic(lease.client, lease.options, topic)

  /** Appends to it by the producer that all tasks of this JVM share. Its user closes it. */
  def sharedControl(topic: String): SharedLease[ControlProducer] = SharedControlProducers.acquire(lease.options, topic)

  /** Address at which the owner of a topic partition listens, as brokers advertise it to this client. */
  def owner(partition: String): ServiceHost = {
    val address = new ClusterCalls(lease.options, lease.options.serviceUrl)
      .ask(s"Looking up the broker of $partition")(() => lease.client.getLookup.getBroker(TopicName.get(partition)))
      .getPhysicalAddress
    ServiceHost(address.getHostString, address.getPort)
  }

  /** Fails unless a broker responds and accepts the credentials. Over HTTP there is no connection without a topic. */
  def checkConnection(): Unit = lease.checkConnection()

  /** Ends every subscription of [[broker]] on the server, within `operationTimeoutMs`, then returns the client. */
  override def close(): Unit =
    try brokers.values.foreach(_.close())
    finally lease.close()
}

private[pulsarspark] object PulsarConnection {

  /** Default of the option `subscriptionPrefix`. */
  private val SubscriptionPrefix = "spark-pulsar"

  /** Waits until the pool has a client; the deadline is `operationTimeoutMs`. Does not connect yet, except to an issuer
    * of tokens.
    */
  def apply(options: ClientOptions): PulsarConnection = new PulsarConnection(ClientPool.acquire(options))
}
