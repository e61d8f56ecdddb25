package io.github.pulsarspark.storage.bookkeeper.protocol

import java.util.zip.{CRC32, CRC32C, Checksum}

import io.netty.buffer.ByteBuf

/** Digest that a ledger's writer adds to each entry, so that readers detect changed bytes: a checksum of the entry
  * without the digest.
  *
  * @param bytes
  *   size of the stored digest, between the 32 bytes that begin an entry and its payload
  */
private[protocol] final class EntryDigest(checksum: Checksum, val bytes: Int) {
  import EntryDigest._

  /** True if the entry from `start` to `end` matches its digest. */
  def fits(buffer: ByteBuf, start: Int, end: Int): Boolean = {
    val payload = start + HeadBytes + bytes
    checksum.reset()
    checksum.update(buffer.internalNioBuffer(start, HeadBytes))
    checksum.update(buffer.internalNioBuffer(payload, end - payload))
    checksum.getValue ==
      (if (bytes == 4) buffer.getUnsignedInt(start + HeadBytes) else buffer.getLong(start + HeadBytes))
  }
}

private[protocol] object EntryDigest {

  /** Ledger, entry, the last entry that was confirmed when it was written, bytes of the ledger up to it; 64 bits each.
    */
  val HeadBytes = 32

  /** Digest of a type; None where BookKeeper's own client is needed: for a digest with a password, or none. */
  def of(digestType: String): Option[EntryDigest] = digestType match {
    case "CRC32C" => Some(new EntryDigest(new CRC32C, 4))
    case "CRC32"  => Some(new EntryDigest(new CRC32, 8))
    case _        => None
  }
}
