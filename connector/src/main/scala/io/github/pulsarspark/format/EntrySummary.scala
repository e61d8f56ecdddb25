package io.github.pulsarspark.format

import io.netty.buffer.ByteBuf

import io.github.pulsarspark.format.entry.{EntryHeader, MalformedBytes, ProtobufCursor}

/** Facts of a stored entry for estimates.
  *
  * @param publishTime
  *   milliseconds since 1970
  * @param messages
  *   number of its messages
  */
private[pulsarspark] final case class EntrySummary(publishTime: Long, messages: Int)

private[pulsarspark] object EntrySummary {

  /** Summary of an entry; None for a marker, and for one that is damaged. */
  def of(stored: ByteBuf): Option[EntrySummary] = {
    val header = new EntryHeader(new ProtobufCursor)
    try {
      header.read(stored)
      Option.unless(header.metadata.isMarker)(EntrySummary(header.metadata.publishTime, header.metadata.messages))
    } catch { case _: MalformedBytes => None }
  }
}
