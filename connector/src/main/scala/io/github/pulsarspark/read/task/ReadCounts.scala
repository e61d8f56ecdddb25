package io.github.pulsarspark.read.task

import org.apache.spark.sql.connector.metric.CustomTaskMetric

import io.github.pulsarspark.common.NetworkMemory
import io.github.pulsarspark.metrics.{Measure, Metrics, TierCounts, TierMetric}

/** Counts what a task reads, for Spark's metrics.
  *
  * @param open
  *   the current slice
  */
private[read] final class ReadCounts(open: => Option[SliceReader]) {

  val levels: TierCounts = new TierCounts
  private var skipped    = 0L
  private var undecoded  = 0L
  private var memory     = 0L
  private var lookAt     = 0L // bytes read at which memory is looked at again

  // of closed slices
  private var lost       = 0L
  private var incomplete = 0L
  private var rejected   = 0L

  /** The bounds of the read exclude the current entry. */
  def skip(): Unit = skipped += 1

  /** The value of the current message does not decode. */
  def addDecodeError(): Unit = undecoded += 1

  def finish(slice: SliceReader): Unit = {
    lost += slice.lostRanges
    incomplete += slice.incompleteMessages
    rejected += slice.rejectedEntries
  }

  /** The same objects at each request of Spark. */
  val values: Array[CustomTaskMetric] = Array[CustomTaskMetric](
    Metrics.directMemory.live(() => memoryAtMost()),
    Metrics.entries.live(() => levels.sum(Measure.Entries)),
    Metrics.bytes.live(() => levels.sum(Measure.Bytes)),
    Metrics.entriesSkipped.live(() => skipped),
    Metrics.entriesRejected.live(() => rejected + open.fold(0L)(_.rejectedEntries)),
    Metrics.decodeErrors.live(() => undecoded),
    Metrics.dataLoss.live(() => lost + open.fold(0L)(_.lostRanges)),
    Metrics.incompleteChunks.live(() => incomplete + open.fold(0L)(_.incompleteMessages))
  ) ++ TierMetric.all.map(m => m.live(() => levels.of(m.level, m.measure)))

  /** Samples memory now and then: a sample takes longer than some small rows, and changes little until the next answer
    * to a request.
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
