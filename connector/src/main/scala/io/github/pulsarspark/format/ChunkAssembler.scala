package io.github.pulsarspark.format

import scala.collection.mutable
import io.netty.buffer.ByteBuf
import org.slf4j.LoggerFactory

import io.github.pulsarspark.format.entry.{EntryHeader, MessageView, PrecedingEntries}
import io.github.pulsarspark.position.Position

/** Collects the chunks of messages that their producers split over several entries. Messages of several producers may
  * be mixed.
  *
  * A message belongs to the range that holds its last chunk, so the messages of a range depend on nothing that comes
  * after it. Chunks that are not in memory by then, because they are before the range or were dropped to save memory,
  * are read again. A message that lacks a chunk in the topic itself (trimmed, or its producer gave up) cannot be read
  * by any client: it is skipped, counted and logged. So is a message whose first chunk is further away than a
  * [[LookBack]] reads: the claim of one message must not make a task read the whole topic.
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
        "{}: the message with the last chunk at {} and the id {} is skipped: the topic lacks some of its {} chunks, " +
          "or they are more than {} entries before it",
        topic,
        last.fold("")(_.at.toString),
        uuid,
        count,
        LookBack.MaxEntries
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

  /** The chunks before the last one, from the topic. */
  private def lookBack(): Vector[Chunk] = (for (chunk <- last; entries <- earlier)
    yield new LookBack(entries, uuid, limit, copyOf).before(chunk.at, count, publishTime)).getOrElse(Vector.empty)
}

private object ChunkAssembler {
  private val log = LoggerFactory.getLogger(classOf[ChunkAssembler])
}
