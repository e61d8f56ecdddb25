package io.github.pulsarspark.format.entry

import io.netty.buffer.ByteBuf

import io.github.pulsarspark.errors.LostRanges

/** The stored entries of one range of a topic partition, in order, each once. Broker, bookies and offloaded storage
  * differ in this alone. One thread uses it.
  */
private[pulsarspark] trait EntrySource extends AutoCloseable {

  /** Moves to the next entry; false when the range is done. Waits no longer than its deadline. */
  def next(): Boolean

  def ledgerId: Long
  def entryId: Long

  /** The entry as stored, valid until the next call of [[next]] or [[close]]; this source releases it. */
  def entry: ByteBuf

  /** Ranges of lost messages that were skipped, because the query allows it. */
  def lost: LostRanges

  /** Times that it connected again, or was opened again at the same place. */
  def reconnects: Long = 0
}
