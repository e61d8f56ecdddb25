package io.github.pulsarspark.metrics

import io.github.pulsarspark.errors.LostRanges

/** What one slice of a read counted so far. */
private[pulsarspark] trait SliceCounts {

  /** Ranges that are lost. */
  def lost: LostRanges

  /** Entries that were rejected because they were not due. */
  def rejectedEntries: Long

  /** Messages that were skipped because some of their chunks are missing. */
  def incompleteMessages: Long
}
