package io.github.pulsarspark.format

import io.netty.buffer.{ByteBuf, Unpooled}

import io.github.pulsarspark.errors.{Conditions, Occurrence}
import io.github.pulsarspark.format.entry.{EntryHeader, MalformedBytes, MessageFields, MessageView, PrecedingEntries, ProtobufCursor}
import io.github.pulsarspark.position.Position

/** Turns entries, as the broker stored them, into messages. For one thread; it may be used again after an error, with
  * the next `open`.
  *
  * At [[DecodeDepth.Entry]] the payload is not opened: `next()` counts through the messages that the metadata claims,
  * and only the entry's fields of the view mean something. That is exact for everything producers write. Entries that
  * compaction wrote may hold messages it removed: when the entry says so (brokers from 4.1 on do) it is opened at every
  * level; older brokers record it only inside the payload, so a compacted ledger has to be read at
  * [[DecodeDepth.Message]].
  *
  * @param topic
  *   named in errors
  * @param maxMessageBytes
  *   the most a compressed entry may claim to unpack to, and the chunks of a message may come to; one that claims more
  *   is an error, not an allocation. It is also the limit of memory for incomplete messages.
  * @param ownBytes
  *   true: the view's `bytes` are a new array for each entry, and may be referred to for ever; false: they are
  *   overwritten by the next entry, which saves an allocation of up to megabytes per entry where the reader of the view
  *   copies what it keeps
  * @param earlier
  *   chunks that messages have before the range; without it such messages are incomplete
  * @param transactions
  *   entries of aborted ones yield nothing
  */
private[pulsarspark] final class EntryDecoder(
    topic: String,
    level: DecodeDepth,
    maxMessageBytes: Int = EntryDecoder.DefaultMaxMessageBytes,
    ownBytes: Boolean = true,
    earlier: Option[PrecedingEntries] = None,
    decryptor: PayloadDecryptor = PayloadDecryptor.NoKeys,
    transactions: TransactionView = TransactionView.NothingAborted
) {

  /** The one view, overwritten by `next()`. The fields of the entry are valid after `open`. */
  val message: MessageView = new MessageView

  private val cursor   = new ProtobufCursor
  private val header   = new EntryHeader(cursor)
  private val metadata = header.metadata
  private val fields   = new MessageFields(message, cursor)
  private val chunks   = new ChunkAssembler(topic, level >= DecodeDepth.Message, maxMessageBytes.toLong, earlier)

  private val payload = new PayloadReader(header, decryptor, maxMessageBytes, ownBytes, error)

  // Variables, because all of it is overwritten per entry or per message.
  private var entry: ByteBuf = Unpooled.EMPTY_BUFFER
  private var parts          = Vector.empty[Chunk]
  private var isUnpacked     = false
  private var opensPayload   = false
  private var payloadEnd     = 0 // in message.bytes
  private var frame          = 0 // where the next message of the batch begins in message.bytes
  private var firstIndex     = 0 // first batch index to deliver
  private var nextIndex      = 0
  private var endIndex       = 0 // first batch index not to deliver

  /** Size of the entry as stored, in bytes. */
  def entryBytes: Int = header.entryLength

  /** Number of messages the metadata claims; 1 when the entry is not a batch. */
  def messagesInEntry: Int = metadata.messages

  /** Messages skipped so far because not all of their chunks are in the topic. */
  def incompleteMessages: Long = chunks.incomplete

  /** Opens a stored entry: optional broker metadata, optional checksum (verified when present), metadata, payload.
    *
    * `stored` is read from its reader index, which does not move. It is neither released nor used after the next
    * `open`; until then, or until `next()` was false, the caller keeps it alive. Messages with a batch index in
    * (`afterIndex`, `lastIndex`] will be yielded; -1 and `Int.MaxValue` stand for all of them. An entry that is not a
    * batch yields its message, with batch index -1, whatever the bounds. Markers of the server yield nothing. A chunk
    * yields its message if it is the last one.
    */
  def open(ledgerId: Long, entryId: Long, stored: ByteBuf, afterIndex: Int, lastIndex: Int): Unit = {
    entry = stored
    message.ledgerId = ledgerId
    message.entryId = entryId
    message.firstLedgerId = -1
    message.firstEntryId = -1
    parts = Vector.empty
    isUnpacked = false
    nextIndex = 0
    endIndex = 0
    try header.read(stored)
    catch { case malformed: MalformedBytes => throw corrupt(malformed.getMessage) }
    takeEntryFields()
    opensPayload = level >= DecodeDepth.Message || metadata.isCompacted
    if (!opensPayload && isBeyondLimit)
      throw corrupt(s"${metadata.messages} messages do not fit into the $maxMessageBytes bytes of `maxMessageBytes`")
    if (!metadata.isMarker && !isAborted)
      if (metadata.isBatch) limitTo(afterIndex, lastIndex)
      else if (!metadata.isChunk) endIndex = 1
      else {
        chunks.add(header, Position(ledgerId, entryId), stored)
        if (metadata.isLastChunk) endIndex = 1
      }
  }

  /** True if a batch claims more messages than it may unpack to. */
  private def isBeyondLimit = metadata.isBatch && metadata.compression != 0 &&
    metadata.messages > maxMessageBytes / EntryHeader.SmallestMessage

  private def isAborted: Boolean = metadata.inTransaction &&
    transactions.isAborted(metadata.txnMostBits, metadata.txnLeastBits)

  /** Moves the view to the next message; false when the entry is done. Messages that compaction removed are skipped,
    * but have a batch index.
    */
  def next(): Boolean =
    if (nextIndex >= endIndex) false
    else
      try
        if (metadata.isChunk && !findParts()) false
        else {
          if (opensPayload && !isUnpacked) unpack()
          if (!metadata.isBatch) nextSingle()
          else if (opensPayload) nextInBatch()
          else {
            place(nextIndex)
            nextIndex += 1
            true
          }
        }
      catch { case malformed: MalformedBytes => throw corrupt(malformed.getMessage) }

  /** The chunks of the message that this entry ends; false when it has not got them all. */
  private def findParts(): Boolean = {
    parts = chunks.message()
    if (parts.isEmpty) endIndex = 0
    else {
      message.firstLedgerId = parts.head.at.ledgerId
      message.firstEntryId = parts.head.at.entryId
    }
    parts.nonEmpty
  }

  private def limitTo(afterIndex: Int, lastIndex: Int): Unit = {
    val end = if (lastIndex >= metadata.messages) metadata.messages else lastIndex + 1
    if (afterIndex < end - 1) {
      endIndex = end
      firstIndex = afterIndex + 1
      nextIndex = if (opensPayload) 0 else firstIndex // the payload can only be walked from its beginning
    }
  }

  private def nextSingle(): Boolean = {
    if (opensPayload) {
      val inFront = if (metadata.hasMessageFields) header.length else 0
      fields.parseSingle(metadata, message.bytes, inFront)
      message.valueOffset = inFront
      message.valueLength = payloadEnd - inFront
    }
    place(0)
    message.batchIndex = Position.WholeEntry
    message.batchSize = 0
    nextIndex = 1
    true
  }

  private def nextInBatch(): Boolean = {
    var found = false
    while (!found && nextIndex < endIndex) {
      readFrame()
      found = nextIndex >= firstIndex && !fields.isCompactedOut
      nextIndex += 1
    }
    if (found) place(nextIndex - 1)
    found
  }

  private def place(batchIndex: Int): Unit = {
    message.batchIndex = batchIndex
    message.batchSize = metadata.messages
    message.index = if (header.brokerIndex < 0) -1 else header.brokerIndex - metadata.messages + 1 + batchIndex
  }

  /** `[size][SingleMessageMetadata][value]` */
  private def readFrame(): Unit = {
    val bytes = message.bytes
    if (payloadEnd - frame < 4) cutOff()
    val length = (bytes(frame) & 0xff) << 24 | (bytes(frame + 1) & 0xff) << 16 | (bytes(frame + 2) & 0xff) << 8 |
      (bytes(frame + 3) & 0xff)
    val from = frame + 4
    if (length < 0 || length > payloadEnd - from) cutOff()
    fields.parseBatched(metadata, bytes, from, length)
    if (fields.payloadSize > payloadEnd - from - length) cutOff()
    message.valueOffset = from + length
    message.valueLength = fields.payloadSize
    frame = from + length + fields.payloadSize
  }

  private def cutOff(): Nothing =
    throw new MalformedBytes(s"the batch ends inside message $nextIndex of ${metadata.messages}")

  private def takeEntryFields(): Unit = {
    message.brokerPublishTime = header.brokerTime
    message.publishTime = metadata.publishTime
    message.producerName = metadata.producerName.text
    message.schemaVersion = if (metadata.hasSchemaVersion) metadata.schemaVersion.bytes else MessageView.NoBytes
    message.replicatedFrom =
      if (metadata.isReplicated) metadata.replicatedFrom.text else null // the view's word for "not"
  }

  private def unpack(): Unit = {
    val own = parts
    parts = Vector.empty // the joined payload may be large: nothing else keeps its parts
    message.bytes = payload.read(entry, own, message.bytes)
    payloadEnd = payload.end
    frame = 0
    isUnpacked = true
  }

  private def corrupt(problem: String) =
    error((position, topic) => Conditions.EntryCorrupt(position = position, topic = topic, problem = problem), None)

  private def error(at: (String, String) => Occurrence, cause: Option[Throwable]): Throwable = {
    endIndex = 0
    val occurrence = at(Position(message.ledgerId, message.entryId).toString, topic)
    cause.fold(occurrence.exception)(occurrence.causedBy)
  }
}

private[pulsarspark] object EntryDecoder {

  /** Default limit of a message: far above what producers can send by default (5 MiB, compressed). */
  val DefaultMaxMessageBytes: Int = 64 * 1024 * 1024
}
