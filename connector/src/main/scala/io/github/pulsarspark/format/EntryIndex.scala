package io.github.pulsarspark.format

import io.netty.buffer.ByteBuf

import io.github.pulsarspark.format.entry.{EntryHeader, MalformedBytes, ProtobufCursor}

/** The place of an entry among the messages of its topic partition, as the broker counted them when it stored the
  * entry. Brokers do so with the interceptor `AppendIndexMetadataInterceptor`.
  *
  * @param last
  *   index of its last message
  * @param messages
  *   how many it has
  */
private[pulsarspark] final case class EntryIndex(last: Long, messages: Int) {

  /** Index of the last message before the entry. */
  def before: Long = last - messages
}

private[pulsarspark] object EntryIndex {

  /** Index of an entry; None without one, and for entries of which a reader may return fewer messages: markers, parts
    * of transactions, chunks, and entries that compaction wrote.
    */
  def of(stored: ByteBuf): Option[EntryIndex] = {
    val header = new EntryHeader(new ProtobufCursor)
    try {
      header.read(stored)
      val entry   = header.metadata
      val isWhole = !(entry.isMarker || entry.inTransaction || entry.isChunk || entry.isCompacted)
      Option.when(header.brokerIndex >= 0 && isWhole && entry.messages > 0)(
        EntryIndex(header.brokerIndex, entry.messages)
      )
    } catch { case _: MalformedBytes => None }
  }
}
