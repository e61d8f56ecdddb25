package io.github.pulsarspark.schema.columns

import java.util.Arrays

/** Message ids in the form that native clients read back: Pulsar's protobuf message `MessageIdData`, byte for byte as
  * the Java client writes it. What the messages of an entry share is written once per entry. For one thread.
  *
  * @param partition
  *   -1 for a topic without partitions
  */
private[schema] final class MessageIdBytes(partition: Int) {
  import MessageIdBytes._

  private val id     = new Array[Byte](MaxSize)
  private var ledger = Long.MinValue
  private var entry  = Long.MinValue
  private var prefix = 0 // length of the part that the messages of the entry share

  /** @param batchIndex
    *   -1 for a message that is not batched
    * @param batchSize
    *   number of messages in the batch, 0 for a message that is not batched
    */
  def apply(ledgerId: Long, entryId: Long, batchIndex: Int, batchSize: Int): Array[Byte] = {
    if (ledgerId != ledger || entryId != entry) {
      ledger = ledgerId
      entry = entryId
      val end = field(field(0, LedgerTag, ledgerId), EntryTag, entryId)
      prefix = if (partition >= 0) field(end, PartitionTag, partition.toLong) else end
    }
    val end = if (batchIndex >= 0) field(prefix, BatchIndexTag, batchIndex.toLong) else prefix
    Arrays.copyOf(id, field(end, BatchSizeTag, batchSize.toLong))
  }

  /** The id of a message that is split over several entries: that of its last one, then that of its first one. */
  def ofChunks(firstLedgerId: Long, firstEntryId: Long, lastLedgerId: Long, lastEntryId: Long): Array[Byte] = {
    val first = apply(firstLedgerId, firstEntryId, -1, 0)
    apply(lastLedgerId, lastEntryId, -1, 0) ++ Array(FirstChunkTag, first.length.toByte) ++ first
  }

  /** Writes a field at `start` and returns its end. */
  private def field(start: Int, tag: Byte, value: Long): Int = {
    id(start) = tag
    var at   = start + 1
    var rest = value
    while ((rest & ~0x7fL) != 0) {
      id(at) = ((rest & 0x7f) | 0x80).toByte
      at += 1
      rest >>>= 7
    }
    id(at) = rest.toByte
    at + 1
  }
}

private object MessageIdBytes {
  private val LedgerTag: Byte     = 0x08
  private val EntryTag: Byte      = 0x10
  private val PartitionTag: Byte  = 0x18
  private val BatchIndexTag: Byte = 0x20
  private val BatchSizeTag: Byte  = 0x30
  private val FirstChunkTag: Byte = 0x3a

  /** Five fields of a tag and at most ten bytes each. */
  private val MaxSize = 5 * 11
}
