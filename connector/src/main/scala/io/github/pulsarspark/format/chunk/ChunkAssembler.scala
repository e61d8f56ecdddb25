package io.github.pulsarspark.format.chunk

import scala.collection.mutable
import scala.util.Using

import io.netty.buffer.ByteBuf
import org.slf4j.LoggerFactory

import io.github.pulsarspark.format.entry.{EntryHeader, EntrySource, MalformedBytes, MessageView, PrecedingEntries, ProtobufCursor}
import io.github.pulsarspark.position.Position

/** Collects the chunks of messages that their producers split over several entries. Messages of several producers may
  * be mixed.
  *
  * A message belongs to the range that holds its last chunk, so the messages of a range depend on nothing that comes
  * after it. Chunks that are not at hand by then, because they are in front of the range or were given up to save
  * memory, are read again. A message that lacks a chunk in the topic itself (trimmed, or its producer gave up) cannot
  * be read by anybody: it is skipped, counted and logged.
  *
  * Pulsar's client joins chunks inside its consumers alone, which drop messages that began before the range.
  *
  * @param keepsPayloads
  *   false when only the existence of messages matters
  * @param limit
  *   bytes that incomplete messages may take
  */
private[format] final class ChunkAssembler(
    topic: String,
    keepsPayloads: Boolean,
    limit: Long,
    earlier: Option[PrecedingEntries]
) {

  /** Messages that began in the range and did not end yet by their id, the one that got its last chunk longest ago
    * first.
    */
  private val begun = mutable.LinkedHashMap.empty[String, Vector[Chunk]]
  private var held  = 0L

  // The chunk that was added last, if it is the last of its message.
  private var uuid                          = ""
  private var count                         = 0
  private var publishTime                   = 0L
  private var last: Option[Chunk]           = None
  private var before: Option[Vector[Chunk]] = None

  /** Messages skipped because a chunk is missing. */
  var incomplete: Long = 0

  /** Takes the chunk that `header` has read. */
  def add(header: EntryHeader, at: Position, entry: ByteBuf): Unit = {
    val chunk = copyOf(header, at, entry)
    uuid = header.metadata.uuid.text
    count = header.metadata.chunks
    publishTime = header.metadata.publishTime
    before = begun.remove(uuid)
    held -= before.fold(0L)(costOf)
    last = Option.when(header.metadata.isLastChunk)(chunk)
    if (last.isEmpty && (chunk.id == 0 || before.isDefined)) hold(Chunk.append(before.getOrElse(Vector.empty), chunk))
  }

  /** All chunks of the message that the chunk added last ends, in order. Nothing when it is incomplete or was complete
    * before.
    */
  def message(): Vector[Chunk] = {
    val others = before.getOrElse(lookBack())
    val all    = last.fold(others)(Chunk.append(others, _))
    if (others.size == count) Vector.empty // the last chunk was sent twice
    else if (all.size == count) all
    else {
      incomplete += 1
      ChunkAssembler.log.warn(
        "{}: the message with the last chunk at {} and the id {} is skipped: the topic lacks some of its {} chunks",
        topic,
        last.fold("")(_.at.toString),
        uuid,
        count
      )
      Vector.empty
    }
  }

  private def hold(chunks: Vector[Chunk]): Unit = {
    begun.put(uuid, chunks)
    held += costOf(chunks)
    while (held > limit && begun.nonEmpty) {
      val (oldest, given) = begun.head
      begun.remove(oldest)
      held -= costOf(given)
    }
  }

  private def costOf(chunks: Vector[Chunk]): Long = chunks.foldLeft(0L)(_ + _.cost)

  private def copyOf(header: EntryHeader, at: Position, entry: ByteBuf): Chunk = Chunk(
    header.metadata.chunkId,
    at,
    if (keepsPayloads && header.metadata.isEncrypted) header.bytes.take(header.length) else MessageView.NoBytes,
    if (keepsPayloads) header.payload(entry) else MessageView.NoBytes
  )

  /** The chunks before the last one, from the topic. Searched for nearby first; further away where their publish time
    * says, which is that of the last one.
    */
  private def lookBack(): Vector[Chunk] = (for (chunk <- last; entries <- earlier) yield {
    val nearby = Position(chunk.at.ledgerId, math.max(-1, chunk.at.entryId - 1 - ChunkAssembler.Spread * count))
    var end    = Position(chunk.at.ledgerId, chunk.at.entryId - 1)
    var found  = Vector.empty[Chunk]
    val starts = Iterator.single(nearby) ++ entries.placesBefore(publishTime)
    while (!found.headOption.exists(_.id == 0) && starts.hasNext) {
      val start = starts.next()
      if (start < end) {
        found = Using.resource(entries.open(start, end))(chunksIn) ++ found
        end = start
      }
    }
    found.foldLeft(Vector.empty[Chunk])(Chunk.append)
  }).getOrElse(Vector.empty)

  /** The chunks of the requested message, from its last first one on. Skips damaged entries: a read of their own range
    * reports them.
    */
  private def chunksIn(source: EntrySource): Vector[Chunk] = {
    val header = new EntryHeader(new ProtobufCursor)
    var found  = Vector.empty[Chunk]
    while (source.next())
      if (isReadable(header, source.entry) && header.metadata.isChunk && header.metadata.uuid.text == uuid) {
        val chunk = copyOf(header, Position(source.ledgerId, source.entryId), source.entry)
        found = if (chunk.id == 0) Vector(chunk) else found :+ chunk
      }
    found
  }

  private def isReadable(header: EntryHeader, entry: ByteBuf): Boolean =
    try { header.read(entry); true }
    catch { case _: MalformedBytes => false }
}

private object ChunkAssembler {
  private val log = LoggerFactory.getLogger(classOf[ChunkAssembler])

  /** Entries looked through at first for each chunk of a message: producers send chunks one after another, others may
    * come between.
    */
  private val Spread = 2
}
