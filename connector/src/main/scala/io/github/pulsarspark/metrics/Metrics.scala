package io.github.pulsarspark.metrics

import org.apache.spark.sql.connector.metric.{CustomMetric, CustomSumMetric, CustomTaskMetric}

/** A task's part of a metric, or the driver's. */
private[pulsarspark] final case class TaskMetric(name: String, value: Long) extends CustomTaskMetric

/** Entries (stored batches) that were read. */
final class EntriesRead extends CustomSumMetric {
  override def name: String        = EntriesRead.Name
  override def description: String = "Pulsar entries read"
}
object EntriesRead { val Name = "pulsarEntries" }

/** Bytes of entries as they are stored. */
final class BytesRead extends CustomSumMetric {
  override def name: String        = BytesRead.Name
  override def description: String = "Pulsar bytes read"
}
object BytesRead { val Name = "pulsarBytes" }

/** Ranges that should have been read but are gone; above 0 only with `failOnDataLoss=false`. */
final class DataLoss extends CustomSumMetric {
  override def name: String        = DataLoss.Name
  override def description: String = "Pulsar ranges lost"
}
object DataLoss { val Name = "pulsarDataLoss" }

/** Messages in several entries (chunks) that are left out because not all of these are in the topic: no client can read them. */
final class IncompleteChunks extends CustomSumMetric {
  override def name: String        = IncompleteChunks.Name
  override def description: String = "Pulsar chunked messages left out as incomplete"
}
object IncompleteChunks { val Name = "pulsarIncompleteChunks" }

/** Entries that the broker delivered. */
final class BrokerEntries extends CustomSumMetric {
  override def name: String        = BrokerEntries.Name
  override def description: String = "Pulsar entries read from brokers"
}
object BrokerEntries { val Name = "pulsarBrokerEntries" }

/** Entries that were read from bookies, past the broker. */
final class BookieEntries extends CustomSumMetric {
  override def name: String        = BookieEntries.Name
  override def description: String = "Pulsar entries read from bookies"
}
object BookieEntries { val Name = "pulsarBookieEntries" }

/** Entries that were read from offloaded storage, past the broker. */
final class TieredEntries extends CustomSumMetric {
  override def name: String        = TieredEntries.Name
  override def description: String = "Pulsar entries read from offloaded storage"
}
object TieredEntries { val Name = "pulsarTieredEntries" }

/** Entries of which only the metadata was looked at, because they are outside the publish times that are wanted. */
final class EntriesSkipped extends CustomSumMetric {
  override def name: String        = EntriesSkipped.Name
  override def description: String = "Pulsar entries skipped"
}
object EntriesSkipped { val Name = "pulsarEntriesSkipped" }

/** Ledgers that are not read at all, because everything in them is older than what a filter wants. Known when the read is planned. */
final class LedgersSkipped extends CustomSumMetric {
  override def name: String        = LedgersSkipped.Name
  override def description: String = "Pulsar ledgers skipped"
}
object LedgersSkipped { val Name = "pulsarLedgersSkipped" }

/** Topic partitions in which a filter wants nothing. Known when the read is planned. */
final class PartitionsSkipped extends CustomSumMetric {
  override def name: String        = PartitionsSkipped.Name
  override def description: String = "Pulsar topic partitions skipped"
}
object PartitionsSkipped { val Name = "pulsarPartitionsSkipped" }

/** Messages acknowledged by the brokers. */
final class MessagesWritten extends CustomSumMetric {
  override def name: String        = MessagesWritten.Name
  override def description: String = "Pulsar messages written"
}
object MessagesWritten { val Name = "pulsarMessages" }

/** Every metric of the connector. Spark makes them by class name, without arguments. */
private[pulsarspark] object Metrics {
  def ofReads: Array[CustomMetric] =
    Array(
      new EntriesRead,
      new BytesRead,
      new BrokerEntries,
      new BookieEntries,
      new TieredEntries,
      new EntriesSkipped,
      new LedgersSkipped,
      new PartitionsSkipped,
      new DataLoss,
      new IncompleteChunks
    )
  def ofWrites: Array[CustomMetric] = Array(new MessagesWritten)
}
