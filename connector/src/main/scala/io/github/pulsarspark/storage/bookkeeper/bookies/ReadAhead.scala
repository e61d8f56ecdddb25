package io.github.pulsarspark.storage.bookkeeper.bookies

import io.github.pulsarspark.storage.segment.Segment

/** Sizes of the windows in which entries are requested ahead. A window has as many consecutive entries as fit its
  * bytes, by the average size of the entries received so far.
  *
  * @param readAheadBytes
  *   limit of all windows, unless one alone is larger
  * @param mostEntries
  *   limit of entries in a window
  */
private[bookkeeper] final class ReadAhead(
    segment: Segment,
    readAheadBytes: Long,
    mostWindows: Int,
    windowBytes: Long,
    mostEntries: Int = ReadAhead.MaxEntries
) {
  private var entries = 0L
  private var bytes   = 0L

  /** Requested at a time. */
  def windows: Int = math.max(1L, math.min(mostWindows.toLong, readAheadBytes / bytesOfWindow)).toInt

  def received(entryBytes: Int): Unit = {
    entries += 1
    bytes += entryBytes
  }

  /** The last entry of a window from this one on that ends no later than `last`. */
  def lastOfWindow(first: Long, last: Long): Long = math.min(last, first + entriesOfWindow - 1)

  private def entriesOfWindow: Long = math.max(1L, math.min(mostEntries.toLong, windowBytes / average))

  /** Bytes of a window; at least one entry, which may be larger than a window should be. */
  private def bytesOfWindow: Long = math.max(average, math.min(windowBytes, mostEntries * average))

  private def average: Long =
    math.max(1L, if (entries > 0) bytes / entries else segment.bytes / math.max(1L, segment.last - segment.first + 1))
}

private[bookkeeper] object ReadAhead {
  val MaxEntries: Int = 10000
}
