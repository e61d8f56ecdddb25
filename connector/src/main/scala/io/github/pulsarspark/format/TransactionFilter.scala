package io.github.pulsarspark.format

import io.netty.buffer.ByteBuf

import io.github.pulsarspark.format.entry.{EntryHeader, MalformedBytes, ProtobufCursor}

/** Finds the entries of aborted transactions before they are decoded. For one thread. */
private[pulsarspark] final class TransactionFilter(transactions: TransactionView) {

  private val header = new EntryHeader(new ProtobufCursor)

  /** True if the entry yields nothing, because its transaction was aborted. Fails with [[UndecidedTransaction]] when
    * that is unknown. A malformed entry is left to its decoder, which reports it.
    */
  def isAborted(stored: ByteBuf): Boolean = isReadable(stored) && {
    val metadata = header.metadata
    !metadata.isMarker && metadata.inTransaction && transactions.isAborted(metadata.txnMostBits, metadata.txnLeastBits)
  }

  private def isReadable(stored: ByteBuf): Boolean =
    try {
      header.read(stored)
      true
    } catch { case _: MalformedBytes => false }
}
