package io.github.pulsarspark.storage.backlog

import io.github.pulsarspark.errors.LostRanges
import io.github.pulsarspark.format.TieredEntrySource

/** Counts of what sources have met by now.
  *
  * @param rejected
  *   entries that were out of order or out of range
  * @param reconnects
  *   times that a reader of a broker connected again
  */
private[backlog] final case class SourceCounts(lost: LostRanges, rejected: Long, reconnects: Long) {

  def +(source: TieredEntrySource): SourceCounts =
    if (source.lost.count == 0 && source.rejectedEntries == 0 && source.reconnects == 0) this
    else SourceCounts(lost ++ source.lost, rejected + source.rejectedEntries, reconnects + source.reconnects)
}

private[backlog] object SourceCounts {
  val none: SourceCounts = SourceCounts(LostRanges.none, 0, 0)
}
