package io.github.pulsarspark.metrics

import io.github.pulsarspark.errors.LostRanges

/** Counts of one slice of a read so far. */
private[pulsarspark] trait SliceCounts {

  /** Ranges that are lost. */
  def lost: LostRanges

  /** Entries that the range guard rejected: out of range or repeated. */
  def rejectedEntries: Long

  /** Messages that were skipped because some of their chunks are missing. */
  def incompleteMessages: Long

  /** Times that a reader of the broker connected again or was opened again. */
  def reconnects: Long

  /** The topic partition and the last entry that was read of it. */
  def last: Option[(String, LastRead)]
}
