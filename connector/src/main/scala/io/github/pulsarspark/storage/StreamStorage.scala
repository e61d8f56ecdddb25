package io.github.pulsarspark.storage

import java.util.concurrent.CompletableFuture

import io.github.pulsarspark.errors.DataLossPolicy
import io.github.pulsarspark.options.{ReadLevel, ReadOptions}
import io.github.pulsarspark.position.OffsetRange
import io.github.pulsarspark.pulsar.admin.AdminApi
import io.github.pulsarspark.pulsar.broker.GrowingEntrySource
import io.github.pulsarspark.storage.segment.{HadoopSettings, Slice, TopicStorage, WholeLedger}

/** Storage of a stream's topic partitions, for all that its driver asks: where a micro-batch ends, its tasks, and how
  * much is left. All of them share one memory of the ledgers.
  *
  * @param admin
  *   None if the broker reads everything
  * @param options
  *   of the query
  */
private[pulsarspark] final class StreamStorage(
    admin: Option[AdminApi],
    options: ReadOptions,
    hadoop: HadoopSettings,
    losses: DataLossPolicy
) {
  private val known    = new KnownStorage
  private val ledgers  = known.ledgers
  private val ofTasks  = new SegmentLocator(admin, options, hadoop, losses, known)
  private val ofDriver = new SegmentLocator(admin, options.orBroker, hadoop, losses, known)

  /** Divides the ranges of a micro-batch into tasks, see [[SegmentPlan.of]]. */
  def plan(ranges: Seq[RequestedRange], tail: StreamTail, parallelism: Int): SegmentPlan =
    SegmentPlan.of(ranges, ofTasks, options, Some(tail), parallelism)

  /** Slices with which ranges begin that are read where they are stored, by topic partition, up to the first that the
    * broker reads. Tasks follow the rest.
    *
    * @param ranges
    *   of one topic partition each
    * @param entries
    *   see [[StreamTail]]
    */
  def backlogs(ranges: Seq[OffsetRange], entries: Long): Map[String, Seq[Slice]] = {
    val tail = StreamTail(entries, Map.empty, isFollowed = true, newestOnly = options.readLevel == ReadLevel.Segment)
    ofTasks.slices(ranges, Some(tail)).groupBy(_.range.topic).view.mapValues(_.takeWhile(_.segment.nonEmpty)).toMap
  }

  /** Closed ledgers of ranges, as far as their list is known, see [[SegmentLocator.wholeLedgers]]. */
  def wholeLedgers(ranges: Seq[OffsetRange], bytes: Long): Map[String, Seq[WholeLedger]] =
    ofTasks.wholeLedgers(ranges, bytes)

  /** The entries of a range, which the driver counts.
    *
    * @param options
    *   of the query, with a read-ahead of their own
    */
  def entries(range: OffsetRange, options: ReadOptions): GrowingEntrySource =
    BacklogEntrySource(range, options.orBroker, hadoop, ofDriver)

  /** Number of entries in one ledger, and in those between it and a later one; None while that is not known. */
  def entriesBetween(topic: String, from: Long, to: Long): Option[(Long, Long)] =
    ledgers.entriesBetween(topic, from, to)

  /** Requests the list of ledgers from one of them on, for [[entriesBetween]]. */
  def list(topic: String, from: Long): CompletableFuture[Unit] =
    admin.fold(CompletableFuture.completedFuture(())) { service =>
      ledgers.list(topic, from)(ids =>
        service.internalStats(topic, withMetadata = false)(new TopicStorage.Reader(ids))
      )
    }

  /** Forgets such lists of all other partitions, unless tasks need them. */
  def keepLists(of: String => Boolean): Unit = ledgers.keepLists(of)

  /** Tasks did not find ledgers of these topic partitions where they were. */
  def moved(topics: Iterable[String]): Unit = known.moved(topics)

  /** Forgets deleted topic partitions. */
  def retain(exists: String => Boolean): Unit = known.retain(exists)
}
