package io.github.pulsarspark.read

import org.apache.spark.sql.connector.metric.CustomTaskMetric

import io.github.pulsarspark.metrics._
import io.github.pulsarspark.storage.Level

/** What a task has read so far, for Spark's metrics. */
private[read] final class ReadCounts {

  private val entries = new Array[Long](Level.all.size)
  private var bytes   = 0L
  private var skipped = 0L

  // of slices that are done
  private var lost       = 0L
  private var incomplete = 0L

  def add(level: Level, entryBytes: Int): Unit = {
    entries(level.ordinal) += 1
    bytes += entryBytes
  }

  /** The entry at hand is not wanted. */
  def skip(): Unit = skipped += 1

  def finish(slice: SliceReader): Unit = {
    lost += slice.lostRanges
    incomplete += slice.incompleteMessages
  }

  /** @param open
    *   the slice at hand
    */
  def values(open: Option[SliceReader]): Array[CustomTaskMetric] = Array(
    TaskMetric(EntriesRead.Name, entries.sum),
    TaskMetric(BytesRead.Name, bytes),
    TaskMetric(BrokerEntries.Name, of(Level.Broker)),
    TaskMetric(BookieEntries.Name, of(Level.Bookies)),
    TaskMetric(TieredEntries.Name, of(Level.Tiered)),
    TaskMetric(EntriesSkipped.Name, skipped),
    TaskMetric(DataLoss.Name, lost + open.fold(0L)(_.lostRanges)),
    TaskMetric(IncompleteChunks.Name, incomplete + open.fold(0L)(_.incompleteMessages))
  )

  private def of(level: Level): Long = entries(level.ordinal)
}
