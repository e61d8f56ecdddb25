package io.github.pulsarspark.storage.offload.format

import java.nio.ByteBuffer

import io.github.pulsarspark.format.entry.MalformedBytes

/** The index object beside a ledger's blocks: which entries each block begins with, and what the ledger was like when
  * it was closed.
  *
  * {{{
  * int  0xDE47DE47
  * int  length of the index
  * long length of the data object
  * long length of a block's header
  * int  number of blocks
  * int  length of the metadata
  * the ledger's metadata
  * for each block: long first entry, int number of the block from 1 on, long where it begins
  * }}}
  */
private[offload] final case class OffloadIndex(
    headerLength: Int,
    ledger: OffloadedLedgerMetadata,
    blocks: Vector[OffloadBlock]
) {

  /** The number of the block that holds an entry. */
  def blockOf(entryId: Long): Int = blocks.lastIndexWhere(_.firstEntryId <= entryId)

  /** The last entry of a block. */
  def lastEntryOf(block: Int): Long =
    if (block + 1 < blocks.size) blocks(block + 1).firstEntryId - 1 else ledger.lastEntryId

  def dataLength: Long = blocks.last.end
}

private[offload] object OffloadIndex {

  /** Several ledgers in one object; off unless a broker's administrator enables it. */
  val Streaming = "in the format of streaming offload"

  private val Magic          = 0xde47de47
  private val StreamingMagic = 0x3d1fb0bc
  private val FixedLength    = 32
  private val BytesPerBlock  = 20

  /** Fails with [[MalformedBytes]] unless the bytes are an index from the first to the last, and every number in it
    * fits to the others.
    */
  def parse(bytes: Array[Byte]): OffloadIndex = {
    val in = ByteBuffer.wrap(bytes)
    require(bytes.length >= FixedLength, s"the index has only ${bytes.length} bytes")
    val magic = in.getInt
    if (magic == StreamingMagic) throw new UnsupportedOffload(Streaming)
    require(magic == Magic, f"the index begins with $magic%08x instead of $Magic%08x")
    val length = in.getInt
    require(length == bytes.length, s"the index has ${bytes.length} bytes and says that it has $length")
    val dataLength     = in.getLong
    val headerLength   = in.getLong
    val count          = in.getInt
    val metadataLength = in.getInt
    require(
      headerLength >= BlockHeader.Length && headerLength <= BlockHeader.MaxLength,
      s"the index says that blocks have a header of $headerLength bytes"
    )
    require(
      count > 0 && metadataLength >= 0 &&
        FixedLength + metadataLength.toLong + count.toLong * BytesPerBlock == bytes.length,
      s"the index claims $count blocks and $metadataLength bytes of metadata, which are not its ${bytes.length} bytes"
    )
    val ledger = OffloadedLedgerMetadata.parse(bytes, FixedLength, metadataLength)
    in.position(FixedLength + metadataLength)
    val starts = Vector.tabulate(count) { i =>
      val firstEntryId = in.getLong
      val number       = in.getInt
      require(number == i + 1, s"block ${i + 1} of the index has number $number")
      (firstEntryId, in.getLong)
    }
    OffloadIndex(headerLength.toInt, ledger, blocks(starts, ledger.lastEntryId, dataLength, headerLength))
  }

  private def blocks(
      starts: Vector[(Long, Long)],
      lastEntryId: Long,
      dataLength: Long,
      headerLength: Long
  ): Vector[OffloadBlock] = {
    require(starts.head == ((0L, 0L)),
      s"the first block of the index begins with entry ${starts.head._1} at ${starts.head._2}")
    val ends = starts.tail :+ ((lastEntryId + 1, dataLength))
    starts.zip(ends).map { case ((entryId, offset), (nextEntryId, end)) =>
      val entries = nextEntryId - entryId
      require(
        entries > 0 && offset >= 0 && end > offset && (end - offset - headerLength) / BlockHeader.EntryHeader >=
          entries,
        s"in the index, entry $entryId is at $offset and entry $nextEntryId at $end"
      )
      OffloadBlock(entryId, offset, end - offset)
    }
  }

  private def require(holds: Boolean, problem: => String): Unit = if (!holds) throw new MalformedBytes(problem)
}

/** A part of an offloaded ledger that can be read without what is before it.
  *
  * @param offset
  *   where it begins in the file
  */
private[offload] final case class OffloadBlock(firstEntryId: Long, offset: Long, bytes: Long) {
  def end: Long = offset + bytes
}
