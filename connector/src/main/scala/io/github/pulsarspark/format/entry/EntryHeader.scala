package io.github.pulsarspark.format.entry

import java.util.zip.CRC32C

import io.netty.buffer.{ByteBuf, Unpooled}

/** Everything in front of an entry's payload, and where the payload is. One instance is overwritten by every entry.
  *
  * {{{
  * [0x0e02][size][BrokerEntryMetadata]    optional
  * [0x0e01][CRC32C of all that follows]   optional: very old producers leave it out
  * [size][MessageMetadata]
  * payload
  * }}}
  */
private[format] final class EntryHeader(cursor: ProtobufCursor) {
  import EntryHeader._

  val metadata = new EntryMetadata(cursor)

  private val checksum       = new CRC32C
  private var entry: ByteBuf = Unpooled.EMPTY_BUFFER

  /** The `MessageMetadata` as stored, in the first `length` bytes. Overwritten by the next entry. */
  var bytes: Array[Byte] = new Array[Byte](512)
  var length: Int        = 0

  var entryLength: Int   = 0
  var payloadStart: Int  = 0
  var payloadLength: Int = 0

  /** Milliseconds since 1970 by the broker's clock, or -1. */
  var brokerTime: Long = -1

  /** Index in the topic of the entry's last message, or -1. */
  var brokerIndex: Long = -1

  /** A copy of the payload of the entry that was read, as stored. */
  def payload(entry: ByteBuf): Array[Byte] = {
    val copy = new Array[Byte](payloadLength)
    entry.getBytes(payloadStart, copy)
    copy
  }

  /** Reads `stored` from its reader index, which does not move. */
  def read(stored: ByteBuf): Unit = {
    entry = stored
    val end = stored.writerIndex
    var at  = stored.readerIndex
    entryLength = end - at
    brokerTime = -1
    brokerIndex = -1
    if (startsWith(BrokerMetadataMagic, at, end)) at = readBrokerMetadata(at + 2, end)
    if (startsWith(ChecksumMagic, at, end)) {
      verifyChecksum(at + 2, end)
      at += 6
    }
    length = load(at, end)
    metadata.parse(bytes, length)
    payloadStart = at + 4 + length
    payloadLength = end - payloadStart
    checkClaims()
  }

  private def checkClaims(): Unit = {
    val unpackedLength = if (metadata.compression == 0) payloadLength else metadata.uncompressedSize
    if (unpackedLength < 0) throw new MalformedBytes(s"its uncompressed size is $unpackedLength")
    if (metadata.isBatch && (metadata.messages < 0 || metadata.messages > unpackedLength / SmallestMessage))
      throw new MalformedBytes(s"${metadata.messages} messages do not fit into $unpackedLength bytes")
    if (
      metadata.isChunk &&
      (metadata.isBatch || !metadata.hasUuid || metadata.chunkId < 0 || metadata.chunkId >= metadata.chunks)
    )
      throw new MalformedBytes(
        s"malformed metadata: it is chunk ${metadata.chunkId} of ${metadata.chunks} of no message, or in a batch"
      )
  }

  private def startsWith(magic: Int, at: Int, end: Int): Boolean = end - at >= 2 && entry.getUnsignedShort(at) == magic

  /** Copies the bytes that follow their size at `at` into `bytes`; returns the size. */
  private def load(at: Int, end: Int): Int = {
    val available = end - at - 4
    val size      = if (available < 0) -1 else entry.getInt(at)
    if (size < 0 || size > available)
      throw new MalformedBytes(s"it is cut off or does not begin with metadata ($entryLength bytes)")
    if (size > bytes.length) bytes = new Array[Byte](size)
    entry.getBytes(at + 4, bytes, 0, size)
    size
  }

  private def readBrokerMetadata(at: Int, end: Int): Int = {
    val size = load(at, end)
    cursor.over(bytes, 0, size)
    var tag = cursor.nextTag()
    while (tag != 0) {
      if (tag == 8) brokerTime = cursor.long()
      else if (tag == 16) brokerIndex = cursor.long()
      else cursor.skip(tag)
      tag = cursor.nextTag()
    }
    at + 4 + size
  }

  private def verifyChecksum(at: Int, end: Int): Unit = {
    val from = at + 4
    if (from > end) throw new MalformedBytes(s"it is cut off in its checksum ($entryLength bytes)")
    checksum.reset()
    if (entry.hasArray) checksum.update(entry.array, entry.arrayOffset + from, end - from)
    else if (entry.nioBufferCount == 1) checksum.update(entry.internalNioBuffer(from, end - from)) // makes no object
    else entry.nioBuffers(from, end - from).foreach(checksum.update)
    if (checksum.getValue.toInt != entry.getInt(at))
      throw new MalformedBytes(
        f"its checksum is ${checksum.getValue}%08x but was ${entry.getUnsignedInt(at)}%08x when it was produced"
      )
  }
}

private[format] object EntryHeader {
  private val BrokerMetadataMagic = 0x0e02
  private val ChecksumMagic       = 0x0e01

  /** A message in a batch has at least its metadata's size and, in the metadata, its value's size. */
  val SmallestMessage = 6
}
