package io.github.pulsarspark.read.stream.limits

import java.util.{Arrays => JArrays}

import io.github.pulsarspark.format.{EntryDecoder, UndecidedTransaction}
import io.github.pulsarspark.options.ReadOptions
import io.github.pulsarspark.position.{Interval, OffsetRange, Position}
import io.github.pulsarspark.pulsar.broker.{BrokerApi, GrowingEntrySource}
import io.github.pulsarspark.read.plan.CountingDecoder

/** Counts the messages of one topic partition, to find out where micro-batches may end. It passes over each entry once,
  * with the decoder of tasks, so that it counts what tasks return: no markers, aborted messages, messages that
  * compaction removed or that lack chunks. It keeps sums and the indexes of the messages in one batch, no payloads.
  *
  * A micro-batch ends at a message that the broker delivered. Positions of other entries, such as markers, would look
  * like lost data to a task.
  *
  * For one thread at a time.
  *
  * @param range
  *   from what was read to the last message
  * @param times
  *   the publish times of messages that the stream returns
  */
private[stream] final class PartitionWalk(
    range: OffsetRange,
    source: GrowingEntrySource,
    decoder: EntryDecoder,
    times: Interval
) extends AutoCloseable {

  private var start        = range.startExclusive // of the next micro-batch
  private var until        = range.endInclusive
  private var end          = start                // the last message that was taken
  private var seen         = start                // the last entry
  private var isDone       = false                // the source has no more entries
  private var rowCount     = 0L
  private var byteCount    = 0L
  private var rowlessBytes = 0L                   // of entries without messages, since the last message

  // The messages of the entry `seen`, by their indexes in its batch.
  private var indexes     = new Array[Int](PartitionWalk.SmallBatch)
  private var messages    = 0
  private var taken       = 0
  private var uncounted   = 0L // its bytes, unless the current micro-batch counts them already
  private var sizeInBytes = 0L

  /** Messages that were taken for the next micro-batch. */
  def rows: Long = rowCount

  /** Stored bytes of the entries with these messages, and of those between. */
  def bytes: Long = byteCount

  /** The last message that was taken for the next micro-batch. */
  def lastMessage: Option[Position] = Option.when(rowCount > 0)(end)

  /** True if nothing is left to take. */
  def isExhausted: Boolean = taken >= messages && (isDone || seen >= until)

  /** Possible end of the next micro-batch: after the messages taken, or after entries without messages. */
  def target: Position =
    if (isExhausted) Seq(end, until).max
    else if (rowCount > 0) end
    else if (taken < messages || seen < start) start
    else seen

  /** Moves the end of the range; false when that needs a walk from the start of the range.
    *
    * @param next
    *   from where the next micro-batch starts to the last message
    */
  def continue(next: OffsetRange): Boolean = {
    val isSame   = next.endInclusive == until
    val canMove  = next.endInclusive > until && (!isDone || seen == until)
    val isUsable = next.startExclusive == start && (isSame || canMove)
    if (isUsable && !isSame) {
      until = next.endInclusive
      source.extendTo(until)
      isDone = false
    }
    isUsable
  }

  /** Takes more messages for the next micro-batch.
    *
    * @param maxRows
    *   limit of further rows
    * @param maxBytes
    *   limit of further bytes, checked after each entry
    * @param mayGoOn
    *   continues as long as this returns true; called after each entry
    */
  def advance(maxRows: Long, maxBytes: Long, mayGoOn: () => Boolean): Unit = {
    val rowsBefore  = rowCount
    val bytesBefore = byteCount
    var goOn        = true
    while (goOn && !isExhausted) {
      if (taken < messages) take(maxRows - (rowCount - rowsBefore))
      else if (source.next()) open()
      else isDone = true
      goOn = rowCount - rowsBefore < maxRows && byteCount - bytesBefore < maxBytes && (taken < messages || mayGoOn())
    }
  }

  /** The next micro-batch ends at [[target]]. */
  def admit(): Unit = {
    start = target
    end = start
    rowCount = 0
    byteCount = 0
    if (taken < messages) uncounted = sizeInBytes // the next micro-batch reads the entry again
  }

  private def take(atMost: Long): Unit = {
    val count = math.min(messages - taken, atMost).toInt
    taken += count
    rowCount += count
    byteCount += rowlessBytes + uncounted
    rowlessBytes = 0
    uncounted = 0
    end = if (taken == messages) seen else seen.copy(batchIndex = indexes(taken - 1))
  }

  private def open(): Unit = {
    val before = seen
    seen = Position(source.ledgerId, source.entryId)
    val isCut = range.startExclusive.wholeEntry == seen && !range.startExclusive.isWholeEntry
    messages = 0
    taken = 0
    try {
      decoder.open(seen.ledgerId, seen.entryId, source.entry, if (isCut) range.startExclusive.batchIndex else -1,
        Int.MaxValue)
      if (times.contains(decoder.message.publishTime)) while (decoder.next()) add(decoder.message.batchIndex)
      sizeInBytes = decoder.entryBytes.toLong
      uncounted = sizeInBytes
      if (messages == 0) rowlessBytes += sizeInBytes
    } catch {
      case undecided: UndecidedTransaction =>
        source.leaveToBroker(undecided)
        seen = before // the broker delivers the entry next, unless it was aborted
    } finally source.release()
  }

  private def add(index: Int): Unit = {
    if (messages == indexes.length) indexes = JArrays.copyOf(indexes, messages * 2)
    indexes(messages) = index
    messages += 1
  }

  override def close(): Unit = source.close()
}

private[stream] object PartitionWalk {
  private val SmallBatch = 16

  /** Bytes that a walk may receive ahead, or fewer if options set less. */
  private val ReadAheadBytes = 1L << 20

  /** Begins a walk; does not wait. The read-ahead is in proportion to the limits. It is left to tasks to report losses.
    *
    * @param entries
    *   of the range, by options of the driver's
    */
  def open(range: OffsetRange, options: ReadOptions, times: Interval, broker: => BrokerApi)(
      entries: ReadOptions => GrowingEntrySource
  ): PartitionWalk = {
    val limits   = options.triggerLimits
    val messages = (limits.maxMessages ++ limits.minMessages).foldLeft(options.readAheadMessages.toLong)(math.min)
    val bytes    = limits.maxBytes.foldLeft(math.min(ReadAheadBytes, options.readAheadBytes))(math.min)
    val driver   =
      options.copy(failOnDataLoss = false, readAheadMessages = messages.toInt, readAheadBytes = bytes)
    val source  = entries(driver)
    val decoder = CountingDecoder(range.topic, options, source.isAborted(_, _), broker)
    new PartitionWalk(range, source, decoder, times)
  }
}
