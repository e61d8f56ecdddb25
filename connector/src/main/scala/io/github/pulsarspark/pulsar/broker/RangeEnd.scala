package io.github.pulsarspark.pulsar.broker

import io.github.pulsarspark.errors.{Conditions, Occurrence}
import io.github.pulsarspark.position.{OffsetRange, Position}
import io.github.pulsarspark.pulsar.feed.FeedBounds
import io.github.pulsarspark.pulsar.topics.TopicLosses

/** Decides where a range ends. Pure.
  *
  * The end of a range is a message that existed when it was planned; only compaction may rightly have removed it. So
  * until the end is reached, another entry is due, and silence means that something is wrong. A topic that is known to
  * end before that has lost its end, unless compaction removed it. A broker may name an earlier last message although
  * it sends more (see [[LastMessages]]), so everything up to that message is read first, and then nothing may follow.
  */
private[broker] final class RangeEnd(range: OffsetRange, readCompacted: Boolean) {

  private var planned = range.endInclusive
  private var stop    = planned.wholeEntry
  private var named   = Option.empty[Position] // the last message, where that is before the end
  private var done    = false

  /** The end as planned. */
  def position: Position = planned

  /** The last entry that is due. */
  def due: Position = stop

  /** True if the range has no more entries. */
  def isReached: Boolean = done

  /** True if the range ended with this entry, so that another range may begin after it. */
  def isAt(read: Position): Boolean = done && planned.isWholeEntry && read == planned

  /** Moves the end.
    *
    * @param read
    *   the last entry read
    */
  def moveTo(end: Position, read: Position): Unit = {
    planned = end
    stop = end.wholeEntry
    named = None
    done = stop <= read
  }

  /** Ends the range here. */
  def reach(): Unit = done = true

  /** True if the range contains this entry, which is the next existing one. An entry at the end or after it ends the
    * range.
    */
  def admits(entry: Position): Boolean = {
    done = entry >= stop
    entry <= stop
  }

  /** True if the silent feed may still send the expected entries. Expiry may have moved the cursor beyond all entries;
    * then none would ever arrive.
    *
    * @param isFirstSession
    *   whether the feed is in the session in which it was opened
    */
  def mayArrive(bounds: FeedBounds, isFirstSession: Boolean): Boolean = {
    // the compacted view is before the cursor, as long as it is read in one session
    val isBefore = bounds.cursor < stop || readCompacted && isFirstSession
    isBefore && bounds.last >= named.getOrElse(stop)
  }

  /** True if everything is read up to the last message that the broker reports, and the range expects more. Another
    * feed then has to confirm that last message.
    */
  def isInDoubt(read: Position): Boolean = !done && named.exists(_ <= read)

  /** Handles the response that this is the topic's last message. Several feeds agree if nothing is to be read before
    * it.
    *
    * @param read
    *   the last entry read
    * @param report
    *   decides what a loss means, and may fail
    */
  def topicEnds(last: Position, read: Position)(report: Occurrence => Unit): Unit =
    if (last.isBeforeLedger) {
      if (read < stop && !readCompacted)
        report(Conditions.DataLossTrimmed(topic = range.topic, from = read.toString, to = planned.toString,
          reason = "the topic is empty now"))
      done = true
    } else if (last >= stop) named = None
    else if (last > read) named = Some(last)
    else {
      if (!readCompacted) report(TopicLosses.endsBefore(range.topic, read, planned.toString, last))
      done = true
    }
}
