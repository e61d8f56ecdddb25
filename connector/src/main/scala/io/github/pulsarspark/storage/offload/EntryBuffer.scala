package io.github.pulsarspark.storage.offload

import io.netty.buffer.{ByteBuf, Unpooled}

/** Consecutive entries of a ledger in one array, which is used again and again. Filled by one thread, then read by
  * another.
  */
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

  /** Makes room for `size` bytes; what is there stays. */
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

/** Where entries of an offloaded ledger come from. Used by one thread, which may have to wait for the storage. */
private[offload] trait EntryBufferSource extends AutoCloseable {

  /** Puts the entries that come next into an empty chunk, at least one. Not called when all were given. */
  def fill(chunk: EntryBuffer): Unit
}
