package io.github.pulsarspark.metrics

import io.github.pulsarspark.common.NetworkMemory
import io.github.pulsarspark.errors.LostRanges

/** Counts of a read task so far, for Spark's metrics.
  *
  * @param open
  *   the current slice
  */
private[pulsarspark] final class ReadCounts(open: => Option[SliceCounts]) {

  val levels: TierCounts = new TierCounts
  private var skipped    = 0L
  private var bad        = 0L
  private var memory     = 0L
  private var lookAt     = 0L // bytes read at which memory is measured again

  // of slices that are done
  private var gone       = LostRanges.none
  private var incomplete = 0L
  private var rejected   = 0L
  private var connected  = 0L
  private var lastReads  = Map.empty[String, LastRead]

  /** The current entry is skipped. */
  def skip(): Unit = skipped += 1

  /** The value of the current message does not decode. */
  def addDecodeError(): Unit = bad += 1

  def finish(slice: SliceCounts): Unit = {
    gone ++= slice.lost
    incomplete += slice.incompleteMessages
    rejected += slice.rejectedEntries
    connected += slice.reconnects
    lastReads = LastRead.later(lastReads, slice.last.toMap)
  }

  def skippedEntries: Long     = skipped
  def decodeErrors: Long       = bad
  def rejectedEntries: Long    = rejected + open.fold(0L)(_.rejectedEntries)
  def lost: LostRanges         = gone ++ open.fold(LostRanges.none)(_.lost)
  def incompleteMessages: Long = incomplete + open.fold(0L)(_.incompleteMessages)
  def reconnects: Long         = connected + open.fold(0L)(_.reconnects)

  /** Last entries read of the finished slices, by topic partition. */
  def last: Map[String, LastRead] = lastReads

  /** The most bytes seen so far. Measured again only after more bytes were read: measuring takes longer than reading
    * some small rows, and the number changes little until another response arrives.
    */
  def directMemory(): Long = {
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
