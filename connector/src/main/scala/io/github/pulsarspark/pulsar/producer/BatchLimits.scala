package io.github.pulsarspark.pulsar.producer

import scala.concurrent.duration._

import org.apache.pulsar.client.impl.conf.ProducerConfigurationData

import io.github.pulsarspark.options.WriteOptions
import io.github.pulsarspark.schema.columns.MetadataColumns

/** Limits of a batch, from the client's own settings.
  *
  * @param messages
  *   at most in a batch
  * @param bytes
  *   at most in a batch of several messages, before compression
  */
private[producer] final case class BatchLimits(messages: Int, bytes: Int)

private[producer] object BatchLimits {

  /** @param maxMessageSize
    *   the broker's limit, which holds for a whole batch
    */
  def apply(conf: ProducerConfigurationData, maxMessageSize: Int): BatchLimits = BatchLimits(
    // More messages than the queue takes could never be sent.
    messages = smallest(Seq(conf.getBatchingMaxMessages, conf.getMaxPendingMessages)),
    bytes = smallest(Seq(conf.getBatchingMaxBytes, maxMessageSize - maxMessageSize / Reserve))
  )

  /** Fraction of the message size limit kept free: compression of incompressible bytes, and encryption, add less than
    * 1/64.
    */
  private val Reserve = 64

  /** The client's 0 and -1 mean that there is no limit. */
  private def smallest(limits: Seq[Int]): Int = limits.filter(_ > 0).minOption.getOrElse(Int.MaxValue)

  /** Publish delay of batches, where the user sets none and the client's 1 ms does not suffice: rows that name their
    * topics reach each topic one by one. It does not delay a single row, because the end of the task sends all rows.
    */
  def publishDelay(options: WriteOptions): Option[FiniteDuration] =
    Option.when(options.topic.isEmpty && !options.producer.contains("batchingMaxPublishDelayMicros"))(100.millis)

  /** True if the connector builds the batches itself. False where the client has to see each message.
    *
    * @param settings
    *   of the client's producer
    * @param columns
    *   metadata columns of the rows
    */
  def areOurs(settings: Map[String, String], columns: Set[String]): Boolean =
    !columns.exists(OneByOne) && !settings.exists { case (name, value) => NeedsMessages.get(name).exists(_(value)) }

  /** True if each message has to be one entry. A broker replicates all messages of a batch like its first one. A broker
    * that deduplicates judges a batch by its lowest sequence id: if ids restart below the producer's last one, it drops
    * new messages together with stored ones.
    *
    * @param settings
    *   of the client's producer
    * @param columns
    *   metadata columns of the rows
    */
  def areSingle(settings: Map[String, String], columns: Set[String]): Boolean =
    columns(MetadataColumns.ReplicationClusters.name) || settings.contains("initialSequenceId") ||
      columns(MetadataColumns.SequenceId.name) && settings.contains("producerName")

  /** Columns whose messages are not batched here. Delayed messages are never batched. A batch has one list of clusters,
    * and its sequence ids are consecutive.
    */
  private val OneByOne: Set[String] = Set(
    MetadataColumns.DeliverAt.name,
    MetadataColumns.DeliverAfter.name,
    MetadataColumns.ReplicationClusters.name,
    MetadataColumns.SequenceId.name
  )

  private val NeedsMessages: Map[String, String => Boolean] = Map(
    "batchingEnabled"               -> (_.equalsIgnoreCase("false")),
    "chunkingEnabled"               -> (_.equalsIgnoreCase("true")),
    "initialSequenceId"             -> (_ => true),
    "lazyStartPartitionedProducers" -> (_.equalsIgnoreCase("true"))
  )
}
