package io.github.pulsarspark.storage.offload.format

import io.netty.buffer.{ByteBuf, Unpooled}

/** Consecutive entries of a ledger in one array, which is reused. Filled by one thread, then read by another. */
private[offload] final class EntryBuffer {
  private var starts        = new Array[Int](1024)
  private var ends          = new Array[Int](1024)
  private var view: ByteBuf = Unpooled.EMPTY_BUFFER

  var bytes: Array[Byte] = Array.emptyByteArray

  /** Id of the first entry; the others follow without a gap. */
  var firstEntryId: Long = 0
  var count: Int         = 0

  def lastEntryId: Long = firstEntryId + count - 1

  def clear(): Unit = count = 0

  /** Grows the array to `size` bytes; its content remains. */
  def reserve(size: Int): Unit = if (size > bytes.length) bytes = java.util.Arrays.copyOf(bytes, size)

  def add(entryId: Long, start: Int, length: Int): Unit = {
    if (count == starts.length) {
      starts = java.util.Arrays.copyOf(starts, 2 * count)
      ends = java.util.Arrays.copyOf(ends, 2 * count)
    }
    if (count == 0) firstEntryId = entryId
    starts(count) = start
    ends(count) = start + length
    count += 1
  }

  /** One entry, in a buffer that is the same for all of them. */
  def entry(index: Int): ByteBuf = {
    if (!view.hasArray || (view.array ne bytes)) view = Unpooled.wrappedBuffer(bytes)
    view.setIndex(starts(index), ends(index))
  }
}

/** The entries of an offloaded ledger, some at a time. Used by one thread, which may wait for the storage. */
private[offload] trait EntryBufferSource extends AutoCloseable {

  /** Puts the following entries into the buffer, at least one, in place of its content. Not called after the last
    * entry.
    */
  def fill(buffer: EntryBuffer): Unit
}
