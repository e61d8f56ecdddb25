package io.github.pulsarspark.storage.bookkeeper.protocol

import java.nio.ByteBuffer

/** Requests entries of a ledger, in version 2 of the bookies' protocol (`BookieProtoEncoding` of BookKeeper). All
  * numbers are big-endian:
  *
  * {{{
  * int32 size of what follows
  * int8 version, int8 operation, int16 flags   no flag is ever set: they fence the ledger or request priority
  * int64 ledger, int64 first entry
  * }}}
  *
  * That is a read of one entry. A read of some consecutive entries (BP-62, from BookKeeper 4.17 on) goes on:
  *
  * {{{
  * int64 id of the request, int32 most entries, int64 most bytes
  * }}}
  */
private[storage] object ReadRequest {

  /** Size of the longer request, with its length field. */
  val MaxBytes = 44

  /** Size of the shorter request. */
  private val SingleBytes = 24

  /** The first four bytes after the size, of requests and of responses. */
  def header(isBatch: Boolean): Int =
    (2 << 24) | ((if (isBatch) 7 else 2) << 16) // version 2, BATCH_READ_ENTRY or READENTRY

  def writeSingle(to: ByteBuffer, ledgerId: Long, entryId: Long): Unit = {
    to.putInt(SingleBytes - 4).putInt(header(isBatch = false)).putLong(ledgerId).putLong(entryId)
    ()
  }

  def writeBatch(
      to: ByteBuffer,
      ledgerId: Long,
      firstEntryId: Long,
      requestId: Long,
      entries: Int,
      bytes: Long
  ): Unit = {
    to.putInt(MaxBytes - 4).putInt(header(isBatch = true)).putLong(ledgerId).putLong(firstEntryId)
    to.putLong(requestId).putInt(entries).putLong(bytes)
    ()
  }
}
