package io.github.pulsarspark.metrics

import org.apache.spark.sql.connector.metric.{CustomMetric, CustomTaskMetric}

final class EntriesRead extends ReadMetric("pulsarEntries", "Pulsar entries read")(_.levels.sum(Measure.Entries))

/** Bytes of entries as stored. */
final class BytesRead extends ReadMetric("pulsarBytes", "Pulsar bytes read")(_.levels.sum(Measure.Bytes))

/** Number of lost ranges; above 0 only with `failOnDataLoss=false`. */
final class DataLoss extends ReadMetric("pulsarDataLoss", "Pulsar ranges lost")(_.lost.count)

/** Messages in several entries, some of which are not in the topic: no client can read them. */
final class IncompleteChunks
    extends ReadMetric("pulsarIncompleteChunks", "Pulsar chunked messages skipped as incomplete")(_.incompleteMessages)

/** Entries of which only the metadata was read, because a filter excludes their messages. */
final class EntriesSkipped extends ReadMetric("pulsarEntriesSkipped", "Pulsar entries skipped")(_.skippedEntries)

/** Entries outside of their range or repeated; 0 unless a server or this connector has a defect. */
final class EntriesRejected
    extends ReadMetric("pulsarEntriesRejected", "Pulsar entries rejected as not due")(_.rejectedEntries)

/** Number of messages that do not decode; above 0 only with an `onDecodeError` other than `fail`. */
final class DecodeErrors extends ReadMetric("pulsarDecodeErrors", "Pulsar messages that do not decode")(_.decodeErrors)

/** Lost connections and readers that were opened again; rows are read once nevertheless. */
final class Reconnects extends ReadMetric("pulsarReconnects", "Pulsar reconnects of broker readers")(_.reconnects)

/** Memory outside the heap that the connector's connections use in a JVM. Its tasks share it, so Spark shows the most
  * that one of them saw.
  */
final class DirectMemory
    extends ReadMetric("pulsarDirectMemory", "Pulsar direct memory of connections, at most (bytes)", Aggregation.Max)(
      _.directMemory()
    )

final class LedgersSkipped extends PlanMetric("pulsarLedgersSkipped", "Pulsar ledgers skipped")(_.ledgersSkipped)

final class PartitionsSkipped
    extends PlanMetric("pulsarPartitionsSkipped", "Pulsar topic partitions skipped")(_.partitionsSkipped)

/** Messages acknowledged by the brokers. */
final class MessagesWritten extends Metric("pulsarMessages", "Pulsar messages written")

/** Every metric of the connector. To add one, add its class above and its line here. */
private[pulsarspark] object Metrics {
  val dataLoss = new DataLoss

  /** Name of a JSON array with the newest lost ranges, in the progress of a stream that lost something. */
  val lostRanges      = "pulsarDataLossRanges"
  val decodeErrors    = new DecodeErrors
  val reconnects      = new Reconnects
  val messagesWritten = new MessagesWritten

  private val ofReadTasks: Seq[ReadMetric] = Seq(
    new EntriesRead,
    new BytesRead,
    new EntriesSkipped,
    new EntriesRejected,
    dataLoss,
    new IncompleteChunks,
    decodeErrors,
    reconnects,
    new DirectMemory
  ) ++ TierMetric.all

  private val ofPlans: Seq[PlanMetric] = Seq(new LedgersSkipped, new PartitionsSkipped)

  val ofReads: Array[CustomMetric]  = (ofReadTasks ++ ofPlans).toArray
  val ofWrites: Array[CustomMetric] = Array(messagesWritten)

  /** Metrics that a read task reports: the same objects at each call of Spark. */
  def ofTask(counts: ReadCounts): Array[CustomTaskMetric] = ofReadTasks.map(_.of(counts)).toArray

  /** Metrics that the driver reports for a plan. */
  def ofPlan(plan: PlanCounts): Array[CustomTaskMetric] = ofPlans.map(_.of(plan)).toArray
}
