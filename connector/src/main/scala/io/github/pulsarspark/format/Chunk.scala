package io.github.pulsarspark.format

import io.github.pulsarspark.position.Position

/** One stored part of a message that its producer split over several entries.
  *
  * @param id
  *   its number in the message, from 0 on
  * @param metadata
  *   the entry's metadata as stored when the payload is encrypted, otherwise nothing
  * @param payload
  *   as stored; nothing when the query does not look at payloads
  */
private[format] final case class Chunk(id: Int, at: Position, metadata: Array[Byte], payload: Array[Byte]) {

  /** This chunk without its bytes, for a message that is too large already. */
  def withoutContent: Chunk = copy(metadata = Array.emptyByteArray, payload = Array.emptyByteArray)

  /** Bytes that it counts towards the limit for incomplete messages. */
  def cost: Long = Chunk.Overhead + metadata.length + payload.length
}

private[format] object Chunk {

  /** The chunk itself, its position, and its part of the message's entry in a map. */
  private val Overhead = 300L

  /** Adds a chunk as the Java client does: chunk 0 restarts the message (producers reuse ids), a duplicate is ignored,
    * a gap discards the collected chunks.
    */
  def append(chunks: Vector[Chunk], next: Chunk): Vector[Chunk] =
    if (next.id == 0) Vector(next)
    else if (next.id < chunks.size) chunks
    else if (next.id == chunks.size) chunks :+ next
    else Vector.empty
}
