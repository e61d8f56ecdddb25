package io.github.pulsarspark.storage.offload.format

import org.apache.hadoop.io.{BytesWritable, LongWritable, MapFile}

import io.github.pulsarspark.format.entry.MalformedBytes

/** The entries `first` to `last` of a Hadoop `MapFile`: keys are entry ids, values the entries. Under the key -1 is the
  * metadata of the ledger.
  */
private[offload] final class MapFileBuffers(
    file: MapFile.Reader,
    managedLedger: String,
    first: Long,
    last: Long,
    bufferBytes: Int
) extends EntryBufferSource {
  import MapFileBuffers._

  private val key    = new LongWritable
  private val value  = new BytesWritable
  private var nextId = first
  private var isOpen = false

  override def fill(buffer: EntryBuffer): Unit = {
    buffer.clear()
    if (!isOpen) {
      OffloadedLedgerMetadata.parse(find(MetadataKey).getBytes, 0, value.getLength).check(managedLedger, last)
      find(first)
      isOpen = true
    } else step()
    var size = put(buffer, 0)
    while (nextId <= last && size < bufferBytes) {
      step()
      size = put(buffer, size)
    }
  }

  /** Finds the entry. It does not use `seek`, which steps over the entry at the key. */
  private def find(entryId: Long): BytesWritable = {
    key.set(entryId)
    Option(file.getClosest(key, value)) match {
      case Some(id: LongWritable) if id.get == entryId => value
      case Some(id: LongWritable)                      => missing(entryId, s"entry $id is in its place")
      case Some(other) => throw new MalformedBytes(s"its keys are of type ${other.getClass.getName}")
      case None        => missing(entryId, "the file ends before it")
    }
  }

  private def step(): Unit = {
    if (!file.next(key, value)) missing(nextId, "the file ends before it")
    if (key.get != nextId) missing(nextId, s"entry $key is in its place")
  }

  private def put(buffer: EntryBuffer, at: Int): Int = {
    val end = at + value.getLength
    if (end > buffer.bytes.length)
      buffer.reserve(math.max(end, math.min(2L * buffer.bytes.length, bufferBytes + value.getLength.toLong).toInt))
    System.arraycopy(value.getBytes, 0, buffer.bytes, at, value.getLength)
    buffer.add(nextId, at, value.getLength)
    nextId += 1
    end
  }

  private def missing(entryId: Long, why: String): Nothing =
    throw new MalformedBytes(
      s"${if (entryId == MetadataKey) "the ledger's metadata" else s"entry $entryId"} is missing: $why"
    )

  override def close(): Unit = file.close()
}

private object MapFileBuffers {
  private val MetadataKey = -1L
}
