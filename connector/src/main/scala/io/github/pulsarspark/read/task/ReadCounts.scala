package io.github.pulsarspark.read.task

import org.apache.spark.sql.connector.metric.CustomTaskMetric

import io.github.pulsarspark.common.NetworkMemory
import io.github.pulsarspark.metrics.{Measure, Metrics, TierCounts, TierMetric}

/** What a task has read so far, for Spark's metrics.
  *
  * @param open
  *   the slice at hand
  */
private[read] final class ReadCounts(open: => Option[SliceReader]) {

  val levels: TierCounts = new TierCounts
  private var skipped    = 0L
  private var bad        = 0L
  private var memory     = 0L
  private var lookAt     = 0L // bytes read at which memory is looked at again

  // of slices that are done
  private var lost       = 0L
  private var incomplete = 0L
  private var rejected   = 0L

  /** The entry at hand is not wanted. */
  def skip(): Unit = skipped += 1

  /** The value of the message at hand does not decode. */
  def addBad(): Unit = bad += 1

  def finish(slice: SliceReader): Unit = {
    lost += slice.lostRanges
    incomplete += slice.incompleteMessages
    rejected += slice.rejectedEntries
  }

  /** The same objects each time Spark asks. */
  val values: Array[CustomTaskMetric] = Array[CustomTaskMetric](
    Metrics.directMemory.live(() => memoryAtMost()),
    Metrics.entries.live(() => levels.sum(Measure.Entries)),
    Metrics.bytes.live(() => levels.sum(Measure.Bytes)),
    Metrics.entriesSkipped.live(() => skipped),
    Metrics.entriesRejected.live(() => rejected + open.fold(0L)(_.rejectedEntries)),
    Metrics.decodeErrors.live(() => bad),
    Metrics.dataLoss.live(() => lost + open.fold(0L)(_.lostRanges)),
    Metrics.incompleteChunks.live(() => incomplete + open.fold(0L)(_.incompleteMessages))
  ) ++ TierMetric.all.map(m => m.live(() => levels.of(m.level, m.measure)))

  /** Memory is looked at now and then: it takes longer than reading some small rows, and changes little until another
    * request has been answered.
    */
  private def memoryAtMost(): Long = {
    val read = levels.sum(Measure.Bytes)
    if (read >= lookAt) {
      memory = math.max(memory, NetworkMemory.bytes)
      lookAt = read + ReadCounts.BytesBetweenLooks
    }
    memory
  }
}

private object ReadCounts {
  private val BytesBetweenLooks = 256L * 1024
}
