package io.github.pulsarspark.read.task

import org.apache.spark.sql.catalyst.InternalRow

import io.github.pulsarspark.errors.LostRanges
import io.github.pulsarspark.format.{DecodeDepth, EntryDecoder, PayloadDecryptor, Tier, TieredEntrySource, UndecidedTransaction}
import io.github.pulsarspark.metrics.{LastRead, SliceCounts}
import io.github.pulsarspark.position.Position
import io.github.pulsarspark.pulsar.topics.TopicNames
import io.github.pulsarspark.pulsar.broker.BrokerPrecedingEntries
import io.github.pulsarspark.pulsar.crypto.MessageDecryptor
import io.github.pulsarspark.pulsar.schemas.KnownSchemas
import io.github.pulsarspark.pulsar.transactions.AbortedTransactions
import io.github.pulsarspark.schema.rows.DecodeError

/** Reads one slice: entries from a source, messages from entries, rows from messages.
  *
  * @param source
  *   the entries of the slice. When it has no more of them for now, so has this reader.
  */
private[read] final class SliceReader(planned: PlannedSlice, task: TaskParts, source: TieredEntrySource)
    extends SliceCounts
    with AutoCloseable {
  import task.{context, counts, decodeErrors}

  private val range = planned.slice.range
  private val rows  =
    task.decoders.decoder(range.topic, TopicNames.partitionIndex(range.topic), planned.schema.value, schemaAt)
  private val decoder = new EntryDecoder(
    range.topic,
    if (context.options.readCompacted) DecodeDepth.Message
    else rows.level, // else messages that compaction removed would count
    context.options.maxMessageBytes,
    ownBytes = rows.refersToBytes,
    Some(new BrokerPrecedingEntries(range.topic, context.options, task.broker)),
    context.options.privateKeys.fold(PayloadDecryptor.NoKeys)(new MessageDecryptor(range.topic, _)),
    (most, least) => !source.hidesAborted && isRequested && transactions.isAborted(most, least)
  )
  private val messages = decoder.message

  /** The broker skips messages of aborted transactions; direct reads look them up. */
  private val transactions         = AbortedTransactions.of(range, context.options)
  private var inEntry              = false
  private var entryAt              = range.startExclusive
  private var level: Tier          = Tier.Broker // of the current entry
  private var lastLedger           = -1L         // the last entry that was read
  private var lastEntry            = -1L
  private var lastPublished        = 0L
  private var decoded: InternalRow = _

  private def schemaAt(version: Array[Byte]) =
    KnownSchemas.ofThisJvm.at(
      context.options.client,
      range.topic,
      version,
      if (range.isEndless) source.ledgerId else range.endInclusive.ledgerId
    )(task.broker.schemaAt(range.topic, version))

  /** Requests entries before they are needed. */
  def prepare(): Unit = source.prepare()

  def next(): Boolean = {
    while (true) {
      while (inEntry) {
        inEntry = decoder.next()
        if (inEntry && decodes()) {
          counts.levels.addRow(level) // other slices may have opened entries since
          return true
        }
      }
      if (!source.next()) return false
      open()
    }
    false
  }

  def row: InternalRow = decoded

  /** Publish time of the current message, in milliseconds since 1970. */
  def publishTime: Long = messages.publishTime

  /** Decodes the current message. True if it has a row. */
  private def decodes(): Boolean =
    try {
      decoded = rows.decode(messages)
      true
    } catch {
      case DecodeError(error) =>
        counts.addDecodeError()
        val keepRow = decodeErrors.keepRow(messages, error)
        if (keepRow) decoded = rows.withError(messages, error)
        keepRow
    }

  override def lost: LostRanges = source.lost

  override def rejectedEntries: Long = source.rejectedEntries

  override def incompleteMessages: Long = decoder.incompleteMessages

  override def reconnects: Long = source.reconnects

  override def last: Option[(String, LastRead)] =
    Option.when(lastLedger >= 0)(range.topic -> LastRead(Position(lastLedger, lastEntry), lastPublished))

  /** The last message that was read or skipped. */
  def position: Position =
    if (inEntry && messages.batchIndex + 1 < messages.batchSize) entryAt.copy(batchIndex = messages.batchIndex)
    else entryAt

  private def open(): Unit =
    try {
      decoder.open(source.ledgerId, source.entryId, source.entry, firstIndexAfter, lastIndex)
      entryAt = Position(source.ledgerId, source.entryId)
      level = source.level
      counts.levels.addEntry(level, decoder.entryBytes)
      inEntry = isRequested
      if (!inEntry) counts.skip()
      else {
        lastLedger = source.ledgerId
        lastEntry = source.entryId
        lastPublished = messages.publishTime
      }
    } catch { case undecided: UndecidedTransaction => source.leaveToBroker(undecided) }

  /** True if the bounds accept messages of the current entry, by the header that the decoder has read. */
  private def isRequested: Boolean = planned.bounds.contains(messages.publishTime, source.ledgerId, source.entryId)

  /** The batch index up to which the current entry is read already; -1 for none. */
  private def firstIndexAfter: Int =
    if (isEntryOf(range.startExclusive) && !range.startExclusive.isWholeEntry) range.startExclusive.batchIndex else -1

  private def lastIndex: Int =
    if (isEntryOf(range.endInclusive) && !range.endInclusive.isWholeEntry) range.endInclusive.batchIndex
    else Int.MaxValue

  private def isEntryOf(p: Position): Boolean = source.entryId == p.entryId && source.ledgerId == p.ledgerId

  /** Counts what was read, and leaves the source open. */
  def finish(): Unit = counts.finish(this)

  override def close(): Unit =
    try finish()
    finally source.close()
}
