package io.github.pulsarspark.pulsar.producer

import scala.concurrent.duration._

import org.apache.pulsar.client.impl.conf.ProducerConfigurationData

import io.github.pulsarspark.options.WriteOptions
import io.github.pulsarspark.schema.columns.MetadataColumns

/** When a batch is full, by the client's own settings.
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

  /** What compression adds to incompressible bytes, and encryption to all, is less than this part of the limit. */
  private val Reserve = 64

  /** The client's 0 and -1 mean that there is no limit. */
  private def smallest(limits: Seq[Int]): Int = limits.filter(_ > 0).minOption.getOrElse(Int.MaxValue)

  /** How long the first row of a batch waits for others, where neither the user says so nor the client's 1 ms will do:
    * rows that name their topics come to each of them one by one. Nobody waits for a single row, since the end of the
    * task sends them all.
    */
  def publishDelay(options: WriteOptions): Option[FiniteDuration] =
    Option.when(options.topic.isEmpty && !options.producer.contains("batchingMaxPublishDelayMicros"))(100.millis)

  /** Whether rows go to the client in batches that are built here. False where the client has to see each message.
    *
    * @param settings
    *   of the client's producer
    * @param columns
    *   metadata columns of the rows
    */
  def areOurs(settings: Map[String, String], columns: Set[String]): Boolean =
    !columns.exists(OneByOne) && !settings.exists { case (name, value) => NeedsMessages.get(name).exists(_(value)) }

  /** Whether each message has to be one entry. All messages of a batch are replicated like its first one. A broker that
    * deduplicates judges a batch by its lowest sequence id: it drops new messages with those that it has, where ids
    * begin again below the last one of the producer's name.
    *
    * @param settings
    *   of the client's producer
    * @param columns
    *   metadata columns of the rows
    */
  def areSingle(settings: Map[String, String], columns: Set[String]): Boolean =
    columns(MetadataColumns.ReplicationClusters.name) || settings.contains("initialSequenceId") ||
      columns(MetadataColumns.SequenceId.name) && settings.contains("producerName")

  /** Delayed messages are never batched. A batch has one list of clusters, and its sequence ids follow each other. */
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
