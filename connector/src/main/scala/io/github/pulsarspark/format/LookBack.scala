package io.github.pulsarspark.format

import scala.util.Using

import io.netty.buffer.ByteBuf

import io.github.pulsarspark.format.entry.{EntryHeader, EntrySource, MalformedBytes, PrecedingEntries, ProtobufCursor}
import io.github.pulsarspark.position.Position

/** Searches for the chunks of one message before its last one: first nearby, then further away by their publish time,
  * which is that of the last one. The claims of the last chunk only decide where the search begins: it reads at most
  * [[LookBack.MaxEntries]], and keeps the payload above `limit` of at most one chunk.
  *
  * @param limit
  *   bytes of payload; a message that has more is too large whatever is missing
  * @param copyOf
  *   the chunk that a header has read
  */
private[format] final class LookBack(
    entries: PrecedingEntries,
    uuid: String,
    limit: Long,
    copyOf: (EntryHeader, Position, ByteBuf) => Chunk
) {
  import LookBack._

  private val header = new EntryHeader(new ProtobufCursor)
  private var left   = MaxEntries
  private var held   = 0L

  /** The chunks before the last one, which is there; nothing when the search ended before it found the first. */
  def before(last: Position, count: Int, publishTime: Long): Vector[Chunk] = {
    val nearby = Position(last.ledgerId, math.max(-1, last.entryId - 1 - math.min(MaxEntries, Spread * count)))
    var end    = Position(last.ledgerId, last.entryId - 1)
    var found  = Vector.empty[Chunk]
    val starts = Iterator.single(nearby) ++ entries.placesBefore(publishTime)
    while (left > 0 && !found.headOption.exists(_.id == 0) && starts.hasNext) {
      val start = starts.next()
      if (start < end) {
        found = Using.resource(entries.open(start, end))(chunksIn) ++ found
        end = start
      }
    }
    found.foldLeft(Vector.empty[Chunk])(Chunk.append)
  }

  /** The chunks of the message, from its last first one on; none if entries are missing. Skips damaged entries: a read
    * of their own range reports them.
    */
  private def chunksIn(source: EntrySource): Vector[Chunk] = {
    var found = Vector.empty[Chunk]
    while (left > 0 && source.next()) {
      left -= 1
      if (isReadable(source.entry) && header.metadata.isChunk && header.metadata.uuid.text == uuid) {
        val chunk = copyOf(header, Position(source.ledgerId, source.entryId), source.entry)
        if (chunk.id == 0) {
          found = Vector(chunk)
          held = chunk.payload.length.toLong
        } else {
          found :+= (if (held <= limit) chunk else chunk.withoutContent)
          held += chunk.payload.length
        }
      }
    }
    if (left > 0 || !source.next()) found else Vector.empty
  }

  private def isReadable(entry: ByteBuf): Boolean =
    try { header.read(entry); true }
    catch { case _: MalformedBytes => false }
}

private[format] object LookBack {

  /** Limit of entries that are read for one message: about as many as a broker sends in a second. */
  val MaxEntries = 100000L

  /** Entries looked through at first for each chunk of a message: producers send chunks one after another, others may
    * come between.
    */
  private val Spread = 2L
}
