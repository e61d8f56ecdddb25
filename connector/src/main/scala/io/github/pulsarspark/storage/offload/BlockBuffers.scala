package io.github.pulsarspark.storage.offload

import java.nio.ByteBuffer

import org.apache.hadoop.fs.FSDataInputStream

import io.github.pulsarspark.format.entry.MalformedBytes

/** The entries `first` to `last` of a data object, which the index must list.
  *
  * A block is its header, its entries (`int length, long id, bytes`) back to back, and padding. An entry never crosses
  * the border of a block, and the index tells how many there are in each, so padding need not be looked at. Entries can
  * only be found by walking a block from its beginning.
  *
  * @param chunkBytes
  *   how much is asked for at a time, unless a single entry is larger; more than a header
  */
private[offload] final class BlockBuffers(
    in: FSDataInputStream,
    index: OffloadIndex,
    first: Long,
    last: Long,
    chunkBytes: Int
) extends EntryBufferSource {

  private var block    = -1
  private var nextId   = 0L
  private var position = 0L                   // in the file, of what is read next
  private var tail     = Array.emptyByteArray // beginning of the next entry, when a chunk ended inside it
  private var needed   = 0                    // bytes of that entry, as far as they are known

  override def fill(chunk: EntryBuffer): Unit = {
    chunk.clear()
    while (chunk.count == 0) {
      if (block < 0) enter(index.blockOf(first)) else if (nextId > index.lastEntryOf(block)) enter(block + 1)
      walk(chunk, load(chunk))
    }
  }

  private def enter(next: Int): Unit = {
    block = next
    nextId = index.blocks(next).firstEntryId
    position = index.blocks(next).offset
    tail = Array.emptyByteArray
  }

  /** Puts what is left of the last chunk and what comes behind it into this one; returns how many bytes that is. */
  private def load(chunk: EntryBuffer): Int = {
    val asked  = math.max(chunkBytes, needed - tail.length)
    val length = math.min(asked.toLong, index.blocks(block).end - position).toInt
    chunk.reserve(tail.length + length)
    System.arraycopy(tail, 0, chunk.bytes, 0, tail.length)
    if (in.getPos != position) in.seek(position)
    in.readFully(chunk.bytes, tail.length, length)
    position += length
    tail.length + length
  }

  private def walk(chunk: EntryBuffer, length: Int): Unit = {
    val bytes   = ByteBuffer.wrap(chunk.bytes, 0, length)
    val isStart = position - length == index.blocks(block).offset
    val lastId  = math.min(index.lastEntryOf(block), last)
    var at      = if (isStart) BlockHeader.check(bytes, index, block) else 0
    needed = 0
    while (nextId <= lastId && needed == 0) {
      val size = entrySize(bytes, at)
      if (size > length - at) needed = size
      else {
        if (nextId >= first) chunk.add(nextId, at + EntryHeader, size - EntryHeader)
        at += size
        nextId += 1
      }
    }
    tail = if (needed > 0) java.util.Arrays.copyOfRange(chunk.bytes, at, length) else Array.emptyByteArray
  }

  /** Bytes of the next entry with what is in front of it; only of what is in front when not even that is all there. */
  private def entrySize(bytes: ByteBuffer, at: Int): Int = {
    val here  = bytes.limit() - at
    val there = here + (index.blocks(block).end - position)
    if (there < EntryHeader) missing("its block ends before it")
    if (here < EntryHeader) EntryHeader
    else {
      val length = bytes.getInt(at)
      val id     = bytes.getLong(at + 4)
      if (length < 0) missing("there is padding in its place")
      if (id != nextId) missing(s"entry $id is in its place")
      if (length > there - EntryHeader)
        missing(s"its length is $length, but its block ends after ${there - EntryHeader} bytes")
      EntryHeader + length
    }
  }

  private def EntryHeader = BlockHeader.EntryHeader

  private def missing(why: String): Nothing = throw new MalformedBytes(s"entry $nextId is missing: $why")

  override def close(): Unit = in.close()
}

private[offload] object BlockHeader {
  private val Magic = 0xfbdbabcb

  /** Of what it must hold: magic, own length, the block's length, first entry. */
  val Length = 28

  /** More than any header has; brokers write 128 bytes. */
  val Longest = 4096

  /** Bytes in front of each entry. */
  val EntryHeader = 12

  /** Fails unless the bytes begin with the header that the index promises; returns its length. */
  def check(bytes: ByteBuffer, index: OffloadIndex, number: Int): Int = {
    val block                          = index.blocks(number)
    val (magic, header, length, first) = (bytes.getInt(0), bytes.getLong(4), bytes.getLong(12), bytes.getLong(20))
    if (magic != Magic) throw new MalformedBytes(f"block ${number + 1} begins with $magic%08x instead of $Magic%08x")
    val found    = s"a header of $header bytes, $length bytes and first entry $first"
    val promised =
      s"a header of ${index.headerLength} bytes, ${block.bytes} bytes and first entry ${block.firstEntryId}"
    if (found != promised) throw new MalformedBytes(s"block ${number + 1} has $found, but in the index $promised")
    index.headerLength
  }
}
