package io.github.pulsarspark.pulsar.producer

import java.util.UUID
import java.util.concurrent.{CompletableFuture, TimeUnit}

import org.apache.pulsar.client.api.{HashingScheme, MessageRoutingMode, Producer, ProducerCryptoFailureAction}
import org.apache.pulsar.client.impl.WholeBatchContainer

import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.options.WriteOptions
import io.github.pulsarspark.pulsar.connection.{ClientLease, ClientSettings, ClusterCalls}
import io.github.pulsarspark.pulsar.crypto.{PublicKeyReader, SerialCrypto}
import io.github.pulsarspark.pulsar.schemas.EncodedSchema
import io.github.pulsarspark.pulsar.transactions.TaskTransaction
import io.github.pulsarspark.schema.TopicSchema
import io.github.pulsarspark.schema.columns.{MetadataColumns, NamedIds}

/** A producer of the client, with what was made for it.
  *
  * @param router
  *   for rows that name their partition, and for transactions
  * @param release
  *   gives back what it uses, after it is closed
  * @param sendsBatches
  *   whether it takes whole batches, and nothing else
  * @param isByKey
  *   whether a batch has rows of one key
  * @param askWhyRefused
  *   see [[whyRefused]]
  * @param partitions
  *   the producers of the topic partitions as they are now
  */
private[producer] final class OpenProducer(
    val producer: Producer[Array[Byte]],
    val router: Option[RowPartitionRouter],
    release: () => Unit,
    sendsBatches: Boolean = false,
    isByKey: Boolean = false,
    askWhyRefused: Long => Option[Throwable] = _ => None,
    val partitions: () => Seq[Producer[_]] = () => Nil
) {

  /** Outbox for one task's messages, which may be in a transaction. No consumer gets messages of a transaction before
    * its end, so they need no timer.
    */
  def outbox(acknowledgements: Acknowledgements, transaction: Option[TaskTransaction]): Outbox =
    if (!sendsBatches) new MessageOutbox(producer, router, acknowledgements, transaction)
    else {
      val batches = new BatchOutbox(producer, acknowledgements, transaction, isByKey)
      if (transaction.isDefined) batches
      else TimedOutbox(batches, acknowledgements, BatchOutbox.partitionsOf(producer).head.getClient.timer())
    }

  /** False for one whose topic moves, is deleted or terminated, or whose connection is lost. */
  def isConnected: Boolean = producer.isConnected

  /** Reason why brokers refuse this producer; None if it is connected or they do not respond soon.
    *
    * @param acknowledged
    *   how many messages of the task were stored before
    */
  def whyRefused(acknowledged: Long): Option[Throwable] = if (isConnected) None else askWhyRefused(acknowledged)

  def closeAsync(): CompletableFuture[Void] = producer.closeAsync().whenComplete((_, _) => release())
}

private[producer] object OpenProducer {

  /** Opens a producer with the schema, which the broker registers or compares.
    *
    * @param columns
    *   metadata columns of the rows to send
    * @param release
    *   gives back what the producer uses, after it is closed
    */
  def apply(
      lease: ClientLease,
      topic: String,
      schema: TopicSchema,
      options: WriteOptions,
      columns: Set[String],
      release: () => Unit = () => ()
  ): OpenProducer = {
    val answers = new ClusterCalls(lease.options, lease.options.serviceUrl)
    val encoded = EncodedSchema(schema)
    val builder = lease.client.newProducer(encoded)
    builder.loadConf(ClientSettings.typed("pulsar.producer.", options.producer))
    options.producerPrefix.foreach(prefix => builder.producerName(s"$prefix${UUID.randomUUID()}"))
    builder.topic(topic).sendTimeout(options.sendTimeout.toMillis.toInt, TimeUnit.MILLISECONDS).blockIfQueueFull(true)
    BatchLimits.publishDelay(options).foreach(delay =>
      builder.batchingMaxPublishDelay(delay.toMillis, TimeUnit.MILLISECONDS)
    )
    options.publicKeys.foreach { keys =>
      keys.names.foreach(builder.addEncryptionKey(_))
      builder.cryptoKeyReader(PublicKeyReader(topic, keys)).messageCrypto(new SerialCrypto(topic))
        .cryptoFailureAction(ProducerCryptoFailureAction.FAIL)
    }
    val sendsBatches = BatchLimits.areOurs(options.producer, columns)
    if (sendsBatches) builder.batcherBuilder(WholeBatchContainer.BUILDER)
    else if (options.isByKey || BatchLimits.areSingle(options.producer, columns)) builder.enableBatching(false)
    val hasNamedIds = NamedIds(options.producer, columns)
    val isRouted    = columns(MetadataColumns.Partition.name) || options.exactlyOnce.isDefined || hasNamedIds
    val router      = Option.when(isRouted && !sendsBatches) {
      new RowPartitionRouter(
        options.producer.get("hashingScheme").fold(HashingScheme.JavaStringHash)(HashingScheme.valueOf),
        isFixed = options.producer.get("messageRoutingMode").contains(MessageRoutingMode.SinglePartition.name),
        isRepeatable = hasNamedIds
      )
    }
    router.foreach(builder.messageRoutingMode(MessageRoutingMode.CustomPartition).messageRouter(_))
    val what     = s"Opening a producer of $topic"
    val url      = lease.options.serviceUrl
    val opening  = builder.createAsync().exceptionally(e => throw RefusedProducer.named(topic, e, url))
    val producer = answers.awaitOwned(what)(opening) { late => late.closeAsync(); () }
    new OpenProducer(
      producer,
      router,
      release,
      sendsBatches,
      options.isByKey,
      acknowledged =>
        RefusedProducer.ask(lease, producer, encoded)
          .map(e => answers.explain(what, RefusedProducer.named(topic, e, url, acknowledged)))
          .filterNot(e => Conditions.RequestFailed.is(e) || Conditions.Unreachable.is(e)),
      () => BatchOutbox.partitionsOf(producer)
    )
  }
}
