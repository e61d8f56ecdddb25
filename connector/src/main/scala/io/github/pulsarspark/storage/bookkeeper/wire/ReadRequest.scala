package io.github.pulsarspark.storage.bookkeeper.wire

import java.nio.ByteBuffer

/** Asks a bookie for some consecutive entries of a ledger at once, in version 2 of the bookies' protocol (`BookieProtoEncoding` of BookKeeper, BP-62). All numbers
  * are big-endian:
  *
  * {{{
  * int32 size of what follows
  * int8 version, int8 operation, int16 flags   no flag is ever set: the only ones there are fence the ledger, or ask for priority
  * int64 ledger, int64 first entry, int64 id of the request, int32 most entries, int64 most bytes
  * }}}
  */
private[wire] object ReadRequest {

  /** Of a request with its size. */
  val Bytes = 44

  /** The first four bytes after the size, of requests and of answers. */
  val Header: Int = (2 << 24) | (7 << 16) // version 2, BATCH_READ_ENTRY

  def write(to: ByteBuffer, ledgerId: Long, firstEntryId: Long, requestId: Long, entries: Int, bytes: Long): Unit = {
    to.putInt(Bytes - 4).putInt(Header).putLong(ledgerId).putLong(firstEntryId).putLong(requestId).putInt(entries).putLong(bytes)
    ()
  }
}
