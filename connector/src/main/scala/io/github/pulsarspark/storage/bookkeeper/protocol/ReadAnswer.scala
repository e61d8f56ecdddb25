package io.github.pulsarspark.storage.bookkeeper.protocol

import io.netty.buffer.ByteBuf

/** A bookie's answer to a [[ReadRequest]]. The one to a batch read has entries from the first one on without a gap, at
  * least one, fewer than requested when they are large, or when the bookie has not got the next one.
  *
  * {{{
  * int8 version, int8 operation, int16 flags
  * int32 0, or why there are no entries
  * int64 ledger, int64 first entry
  * int64 id of the request                       in the answer to a batch read
  * per entry: int32 size                         in the answer to a batch read
  *   int64 ledger, int64 entry, int64 last entry confirmed, int64 bytes so far, digest, payload
  * }}}
  *
  * @param frame
  *   the answer behind its size
  */
private[protocol] final class ReadAnswer(frame: ByteBuf, isBatch: Boolean) {
  import ReadAnswer._

  private val end       = frame.writerIndex
  private val headBytes = if (isBatch) 32 else 24
  private val sizeBytes = if (isBatch) 4 else 0
  private var at        = headBytes

  /** False if it belongs to no known request. */
  def isFormed: Boolean = end >= headBytes && frame.getInt(0) == ReadRequest.header(isBatch)

  def answers(read: PendingRead): Boolean =
    if (isBatch) frame.getLong(24) == read.requestId
    else frame.getLong(16) == read.first && frame.getLong(8) == read.ledgerId

  def hasEntries: Boolean = frame.getInt(4) == 0 && end > headBytes

  /** Fails unless it has the requested entries. */
  def check(): Unit = {
    if (frame.getInt(4) != 0) throw new ReplicaFailed(s"it says ${meaning(frame.getInt(4))}", isSlow = false)
    if (end == headBytes) throw new ReplicaFailed("its answer is empty", isSlow = false)
  }

  /** Moves to the next entry, which has to be this one; false at the end of the response. Fails if the entry does not
    * match its digest.
    */
  def next(ledgerId: Long, entryId: Long, digest: EntryDigest): Boolean =
    if (at == end) false
    else {
      val start   = at + sizeBytes
      val payload = start + EntryDigest.HeadBytes + digest.bytes
      val next    = if (!isBatch) end.toLong else if (end - at < 4) -1L else start + frame.getUnsignedInt(at)
      if (next < payload || next > end) throw malformed
      if (!digest.fits(frame, start, next.toInt))
        throw new ReplicaFailed("the entry's checksum is wrong", isSlow = false)
      if (frame.getLong(start) != ledgerId || frame.getLong(start + 8) != entryId)
        throw new ReplicaFailed(s"it returned entry ${frame.getLong(start)}:${frame.getLong(start + 8)} instead",
          isSlow = false)
      at = next.toInt
      frame.setIndex(payload, at)
      true
    }

  /** The payload of the entry, in a buffer that is the same for all. */
  def entry: ByteBuf = frame

  def release(): Unit = {
    frame.release()
    ()
  }
}

private[protocol] object ReadAnswer {

  def malformed = new ReplicaFailed("its answer is malformed", isSlow = false)

  /** `BookieProtocol` of BookKeeper. */
  private def meaning(code: Int): String = code match {
    case 1   => "that it has no such ledger (1)"
    case 2   => "that it has no such entry (2)"
    case 101 => "that it could not read its files (101)"
    case 102 => "that it has to know who asks (102)"
    case 106 => "that it has too many requests (106)"
    case _   => s"error $code"
  }
}
