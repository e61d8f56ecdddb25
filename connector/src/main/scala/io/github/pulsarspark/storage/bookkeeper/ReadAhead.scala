package io.github.pulsarspark.storage.bookkeeper

import io.github.pulsarspark.storage.Segment

/** How entries are asked for before they are wanted: some windows at a time, each of so many consecutive entries as make up its bytes, as far as can be told from
  * the entries that came so far.
  *
  * @param readAheadBytes
  *   of all windows, unless one alone is larger
  */
private[bookkeeper] final class ReadAhead(segment: Segment, readAheadBytes: Long, mostWindows: Int, windowBytes: Long) {
  import ReadAhead._

  private var entries = 0L
  private var bytes   = 0L

  /** On their way at a time. */
  val windows: Int = math.max(1L, math.min(mostWindows.toLong, readAheadBytes / windowBytes)).toInt

  def came(entryBytes: Int): Unit = {
    entries += 1
    bytes += entryBytes
  }

  /** The last entry of a window from this one on that ends no later than `last`. */
  def lastOfWindow(first: Long, last: Long): Long = {
    val average = if (entries > 0) bytes / entries else segment.bytes / math.max(1L, segment.last - segment.first + 1)
    math.min(last, first + math.max(1L, math.min(MostEntries, windowBytes / math.max(1L, average))) - 1)
  }
}

private[bookkeeper] object ReadAhead {
  private val MostEntries = 10000L

  /** Of one answer: what a bookie gives at most by default (`maxBatchReadSize`). */
  val MostAnswerBytes: Long = 5L * 1024 * 1024
}
