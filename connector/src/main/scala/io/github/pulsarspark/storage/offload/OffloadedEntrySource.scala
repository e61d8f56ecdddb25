package io.github.pulsarspark.storage.offload

import java.util.concurrent.Future

import io.netty.buffer.ByteBuf

import io.github.pulsarspark.errors.LostRanges
import io.github.pulsarspark.format.entry.EntrySource
import io.github.pulsarspark.storage.offload.format.{EntryBuffer, EntryBufferSource}

/** The entries up to `last` of an offloaded ledger, read one buffer ahead. Nothing is opened before the first `next()`.
  *
  * @param open
  *   called on the storage thread
  */
private[offload] final class OffloadedEntrySource(storage: StorageThread, last: Long, open: () => EntryBufferSource)
    extends EntrySource {

  private var opened: Option[EntryBufferSource]  = None // of the storage thread alone
  private var ahead: Option[Future[EntryBuffer]] = None
  private var current                            = new EntryBuffer
  private var index                              = 0

  override def ledgerId: Long   = storage.ledger.ledgerId
  override def entryId: Long    = current.firstEntryId + index
  override def entry: ByteBuf   = current.entry(index)
  override def lost: LostRanges = LostRanges.none

  override def next(): Boolean = {
    index += 1
    if (index < current.count) true
    else if (current.count > 0 && current.lastEntryId >= last) false
    else {
      advance()
      true
    }
  }

  private def advance(): Unit = {
    val read   = current
    val filled = storage.await(ahead.getOrElse(request(new EntryBuffer)))
    current = filled
    index = 0
    storage.reached(filled.lastEntryId + 1)
    ahead = Option.when(filled.lastEntryId < last)(request(read))
  }

  private def request(buffer: EntryBuffer): Future[EntryBuffer] = storage.submit { () =>
    if (opened.isEmpty) opened = Some(open())
    opened.foreach(_.fill(buffer))
    buffer
  }

  override def close(): Unit = storage.close(() => opened.foreach(_.close()))
}
