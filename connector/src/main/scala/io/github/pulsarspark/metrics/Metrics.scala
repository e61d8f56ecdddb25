package io.github.pulsarspark.metrics

import org.apache.spark.sql.connector.metric.{CustomMetric, CustomSumMetric, CustomTaskMetric}

/** The driver's part of a metric. */
private[pulsarspark] final case class TaskMetric(name: String, value: Long) extends CustomTaskMetric

/** A task's part of a metric as it stands whenever Spark asks: one object for the whole task, as Spark asks for every
  * hundred rows.
  */
private[pulsarspark] final class LiveMetric(override val name: String, now: () => Long) extends CustomTaskMetric {
  override def value: Long = now()
}

/** A number that is added up over tasks. Spark makes it by the name of its class, without arguments, so each is a class
  * of its own.
  */
private[pulsarspark] abstract class Metric(override val name: String, override val description: String)
    extends CustomSumMetric {
  def apply(value: Long): CustomTaskMetric    = TaskMetric(name, value)
  def live(now: () => Long): CustomTaskMetric = new LiveMetric(name, now)
}

/** Entries (stored batches) that were read. */
final class EntriesRead extends Metric("pulsarEntries", "Pulsar entries read")

/** Bytes of entries as they are stored. */
final class BytesRead extends Metric("pulsarBytes", "Pulsar bytes read")

/** Ranges that should have been read but are gone; above 0 only with `failOnDataLoss=false`. */
final class DataLoss extends Metric("pulsarDataLoss", "Pulsar ranges lost")

/** Messages in several entries (chunks) that are left out because not all of these are in the topic: no client can read
  * them.
  */
final class IncompleteChunks extends Metric("pulsarIncompleteChunks", "Pulsar chunked messages left out as incomplete")

/** Entries of which only the metadata was looked at, because they are outside of what a filter wants. */
final class EntriesSkipped extends Metric("pulsarEntriesSkipped", "Pulsar entries skipped")

/** Entries that arrived outside of their range or again, and were not read; 0 unless a server or this connector has a
  * defect.
  */
final class EntriesRejected extends Metric("pulsarEntriesRejected", "Pulsar entries rejected as not due")

/** Messages whose value does not decode; above 0 only with an `onDecodeError` other than `fail`. */
final class DecodeErrors extends Metric("pulsarDecodeErrors", "Pulsar messages that do not decode")

/** Memory outside the heap that the connector's connections have in a JVM. Its tasks share it, so the most that one of
  * them saw is shown.
  */
final class DirectMemory extends CustomMetric {
  override val name: String        = "pulsarDirectMemory"
  override val description: String = "Pulsar direct memory of connections, at most (bytes)"

  override def aggregateTaskMetrics(ofTasks: Array[Long]): String = ofTasks.maxOption.getOrElse(0L).toString

  private[pulsarspark] def live(now: () => Long): CustomTaskMetric = new LiveMetric(name, now)
}

/** Ledgers that are not read at all, because a filter wants nothing of them. Known when the read is planned. */
final class LedgersSkipped extends Metric("pulsarLedgersSkipped", "Pulsar ledgers skipped")

/** Topic partitions in which a filter wants nothing. Known when the read is planned. */
final class PartitionsSkipped extends Metric("pulsarPartitionsSkipped", "Pulsar topic partitions skipped")

/** Messages acknowledged by the brokers. */
final class MessagesWritten extends Metric("pulsarMessages", "Pulsar messages written")

/** Every metric of the connector. */
private[pulsarspark] object Metrics {
  val entries           = new EntriesRead
  val bytes             = new BytesRead
  val dataLoss          = new DataLoss
  val incompleteChunks  = new IncompleteChunks
  val decodeErrors      = new DecodeErrors
  val directMemory      = new DirectMemory
  val entriesRejected   = new EntriesRejected
  val entriesSkipped    = new EntriesSkipped
  val ledgersSkipped    = new LedgersSkipped
  val partitionsSkipped = new PartitionsSkipped
  val messagesWritten   = new MessagesWritten

  val ofReads: Array[CustomMetric] =
    Array[CustomMetric](
      entries,
      bytes,
      entriesSkipped,
      entriesRejected,
      ledgersSkipped,
      partitionsSkipped,
      dataLoss,
      incompleteChunks,
      decodeErrors,
      directMemory
    ) ++
      TierMetric.all

  val ofWrites: Array[CustomMetric] = Array(messagesWritten)
}
