package io.github.pulsarspark.read

import org.apache.spark.sql.connector.metric.CustomTaskMetric

import io.github.pulsarspark.client.NetworkMemory
import io.github.pulsarspark.metrics.{LevelCounts, LevelMetric, Measure, Metrics}

/** What a task has read so far, for Spark's metrics. */
private[read] final class ReadCounts {

  val levels: LevelCounts = new LevelCounts
  private var skipped     = 0L
  private var bad         = 0L
  private var memory      = 0L
  private var lookAt      = 0L // bytes read at which memory is looked at again

  // of slices that are done
  private var lost       = 0L
  private var incomplete = 0L

  /** The entry at hand is not wanted. */
  def skip(): Unit = skipped += 1

  /** The value of the message at hand does not decode. */
  def addBad(): Unit = bad += 1

  def finish(slice: SliceReader): Unit = {
    lost += slice.lostRanges
    incomplete += slice.incompleteMessages
  }

  /** Asked for every hundred rows; most reads have nothing to say of most levels.
    *
    * @param open
    *   the slice at hand
    */
  def values(open: Option[SliceReader]): Array[CustomTaskMetric] = {
    lookAtMemory()
    common(open) ++ LevelMetric.all.filter(m => levels.of(m.level, m.measure) > 0).map(m => m(levels.of(m.level, m.measure)))
  }

  /** It takes longer than reading some small rows, and changes little until another request has been answered. */
  private def lookAtMemory(): Unit = {
    val read = levels.sum(Measure.Bytes)
    if (read >= lookAt) {
      memory = math.max(memory, NetworkMemory.bytes)
      lookAt = read + ReadCounts.BytesBetweenLooks
    }
  }

  private def common(open: Option[SliceReader]): Array[CustomTaskMetric] = Array(
    Metrics.directMemory(memory),
    Metrics.entries(levels.sum(Measure.Entries)),
    Metrics.bytes(levels.sum(Measure.Bytes)),
    Metrics.entriesSkipped(skipped),
    Metrics.decodeErrors(bad),
    Metrics.dataLoss(lost + open.fold(0L)(_.lostRanges)),
    Metrics.incompleteChunks(incomplete + open.fold(0L)(_.incompleteMessages))
  )
}

private object ReadCounts {
  private val BytesBetweenLooks = 256L * 1024
}
