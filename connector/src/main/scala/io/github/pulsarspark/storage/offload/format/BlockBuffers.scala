package io.github.pulsarspark.storage.offload.format

import java.nio.ByteBuffer

import org.apache.hadoop.fs.FSDataInputStream

import io.github.pulsarspark.format.entry.MalformedBytes

/** The entries `first` to `last` of a data object, which the index must list.
  *
  * A block is its header, its entries (`int length, long id, bytes`) back to back, and padding. An entry never crosses
  * the border of a block, and the index has the number of entries of each. Entries are only found by walking a block
  * from its beginning. The bytes after the last entry show whether its length is right.
  *
  * @param bufferBytes
  *   how much is requested at a time, unless a single entry is larger; more than a header
  */
private[offload] final class BlockBuffers(
    in: FSDataInputStream,
    index: OffloadIndex,
    first: Long,
    last: Long,
    bufferBytes: Int
) extends EntryBufferSource {

  private var block    = -1
  private var nextId   = 0L
  private var position = 0L                   // in the file, of what is read next
  private var tail     = Array.emptyByteArray // beginning of the next entry, when a buffer ended inside it
  private var needed   = 0                    // bytes of that entry, as far as they are known

  override def fill(buffer: EntryBuffer): Unit = {
    buffer.clear()
    while (buffer.count == 0) {
      if (block < 0) enter(index.blockOf(first)) else if (nextId > index.lastEntryOf(block)) enter(block + 1)
      walk(buffer, load(buffer))
    }
  }

  private def enter(next: Int): Unit = {
    block = next
    nextId = index.blocks(next).firstEntryId
    position = index.blocks(next).offset
    tail = Array.emptyByteArray
  }

  /** Puts the tail of the last buffer and the bytes after it into this one; returns how many bytes that is. The length
    * of a large entry is believed as far as the file has bytes.
    */
  private def load(buffer: EntryBuffer): Int = {
    val size   = math.max(bufferBytes, needed - tail.length)
    val length = math.min(size.toLong, index.blocks(block).end - position).toInt
    buffer.reserve(tail.length)
    System.arraycopy(tail, 0, buffer.bytes, 0, tail.length)
    if (in.getPos != position) in.seek(position)
    var read = 0
    while (read < length) {
      val more = math.min(length - read, math.max(bufferBytes, read))
      buffer.reserve(tail.length + read + more)
      in.readFully(buffer.bytes, tail.length + read, more)
      read += more
    }
    position += length
    tail.length + length
  }

  private def walk(buffer: EntryBuffer, length: Int): Unit = {
    val bytes       = ByteBuffer.wrap(buffer.bytes, 0, length)
    val isStart     = position - length == index.blocks(block).offset
    val lastInBlock = index.lastEntryOf(block)
    val lastId      = math.min(lastInBlock, last)
    var at          = if (isStart) BlockHeader.check(bytes, index, block) else 0
    needed = 0
    while (nextId <= lastId && needed == 0) {
      val size    = entrySize(bytes, at)
      val padding =
        if (nextId == lastInBlock) math.min(left(bytes, at + size), BlockHeader.PaddingBytes.toLong).toInt else 0
      if (size + padding > length - at) needed = size + padding
      else {
        checkPadding(bytes, at + size, padding)
        if (nextId >= first) buffer.add(nextId, at + EntryHeader, size - EntryHeader)
        at += size
        nextId += 1
      }
    }
    tail = if (needed > 0) java.util.Arrays.copyOfRange(buffer.bytes, at, length) else Array.emptyByteArray
  }

  /** Bytes of the next entry with its header; of the header alone when that is not complete here. */
  private def entrySize(bytes: ByteBuffer, at: Int): Int = {
    val here    = bytes.limit() - at
    val inBlock = left(bytes, at)
    if (inBlock < EntryHeader) missing("its block ends before it")
    if (here < EntryHeader) EntryHeader
    else {
      val length = bytes.getInt(at)
      val id     = bytes.getLong(at + 4)
      if (length < 0) missing("there is padding in its place")
      if (length > BlockHeader.MaxEntryBytes) missing(s"its length is $length, more than any entry has")
      if (id != nextId) missing(s"entry $id is in its place")
      if (length > inBlock - EntryHeader)
        missing(s"its length is $length, but its block ends after ${inBlock - EntryHeader} bytes")
      EntryHeader + length
    }
  }

  /** Bytes of the block from this place on, of which not all need be in the buffer. */
  private def left(bytes: ByteBuffer, at: Int): Long = bytes.limit() - at + (index.blocks(block).end - position)

  private def checkPadding(bytes: ByteBuffer, at: Int, count: Int): Unit =
    for (i <- 0 until count)
      if (bytes.get(at + i) != (BlockHeader.Padding >>> 8 * (3 - i)).toByte)
        missing("its length is wrong: neither padding nor the end of its block is behind it")

  private def EntryHeader = BlockHeader.EntryHeader

  private def missing(why: String): Nothing = throw new MalformedBytes(s"entry $nextId is missing: $why")

  override def close(): Unit = in.close()
}

private[offload] object BlockHeader {
  private val Magic = 0xfbdbabcb

  /** Length of the header's fixed part: magic, own length, the block's length, first entry. */
  val Length = 28

  /** Limit of a header's length; brokers write 128 bytes. */
  val MaxLength = 4096

  /** Number of bytes before each entry. */
  val EntryHeader = 12

  /** Limit of an entry's length, far above what brokers accept. */
  val MaxEntryBytes: Int = 1 << 30

  /** Bytes that fill the block after its last entry, repeated. */
  val Padding      = 0xfedcdead
  val PaddingBytes = 4

  /** Fails unless the bytes begin with the header that the index promises; returns its length. */
  def check(bytes: ByteBuffer, index: OffloadIndex, number: Int): Int = {
    val block                          = index.blocks(number)
    val (magic, header, length, first) = (bytes.getInt(0), bytes.getLong(4), bytes.getLong(12), bytes.getLong(20))
    if (magic != Magic) throw new MalformedBytes(f"block ${number + 1} begins with $magic%08x instead of $Magic%08x")
    val actual   = s"a header of $header bytes, $length bytes and first entry $first"
    val promised =
      s"a header of ${index.headerLength} bytes, ${block.bytes} bytes and first entry ${block.firstEntryId}"
    if (actual != promised) throw new MalformedBytes(s"block ${number + 1} has $actual, but in the index $promised")
    index.headerLength
  }
}
