package io.github.pulsarspark.format

import org.slf4j.LoggerFactory

import io.github.pulsarspark.position.{OffsetRange, Position}

/** The last line of defence of every entry source: no entry at or before the one read last, or after the end of the
  * range, gets through. Sources keep to their ranges by themselves. When one does not, the rows stay right, and the
  * rejected entries are counted and logged.
  */
private[pulsarspark] final class RangeGuard(range: OffsetRange) {

  private val end   = range.endInclusive.wholeEntry
  private var count = 0L

  /** Entries rejected so far. */
  def rejected: Long = count

  /** True if the reader may return the entry.
    *
    * @param last
    *   the position read last, at first the start of the range
    */
  def admits(entry: Position, last: Position): Boolean = {
    val isDue = entry > last && entry <= end
    if (!isDue) reject(entry, last)
    isDue
  }

  /** Counts an entry that a source rejected by itself. */
  def reject(entry: Position, last: Position): Unit = {
    count += 1
    if (count == 1)
      RangeGuard.log.warn(
        s"$range: entry $entry arrived after $last and was rejected; further ones are counted (pulsarEntriesRejected)"
      )
  }
}

private object RangeGuard {
  private val log = LoggerFactory.getLogger(classOf[RangeGuard])
}
