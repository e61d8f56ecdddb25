package io.github.pulsarspark.format.entry

import io.github.pulsarspark.position.Position

/** Entries of a topic partition before a range, for messages whose first chunks are there. */
private[pulsarspark] trait PrecedingEntries {

  /** Places that messages published at this time should come after, the likeliest first and the safest last. Each is
    * looked up on demand.
    */
  def placesBefore(publishTime: Long): Iterator[Position]

  /** Entries after `startExclusive` up to `endInclusive`. Skips what does not exist any more. */
  def open(startExclusive: Position, endInclusive: Position): EntrySource
}
