package io.github.pulsarspark.storage.offload

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
    chunkBytes: Int
) extends EntryBufferSource {
  import MapFileBuffers._

  private val key    = new LongWritable
  private val value  = new BytesWritable
  private var nextId = first
  private var isOpen = false

  override def fill(chunk: EntryBuffer): Unit = {
    chunk.clear()
    if (!isOpen) {
      OffloadedLedgerMetadata.parse(find(MetadataKey).getBytes, 0, value.getLength).check(managedLedger, last)
      find(first)
      isOpen = true
    } else step()
    var size = put(chunk, 0)
    while (nextId <= last && size < chunkBytes) {
      step()
      size = put(chunk, size)
    }
  }

  /** Not `seek`, which steps over what it finds. */
  private def find(wanted: Long): BytesWritable = {
    key.set(wanted)
    Option(file.getClosest(key, value)) match {
      case Some(found: LongWritable) if found.get == wanted => value
      case Some(found: LongWritable)                        => missing(wanted, s"entry $found is in its place")
      case Some(other) => throw new MalformedBytes(s"its keys are of type ${other.getClass.getName}")
      case None        => missing(wanted, "the file ends before it")
    }
  }

  private def step(): Unit = {
    if (!file.next(key, value)) missing(nextId, "the file ends before it")
    if (key.get != nextId) missing(nextId, s"entry $key is in its place")
  }

  private def put(chunk: EntryBuffer, at: Int): Int = {
    val end = at + value.getLength
    if (end > chunk.bytes.length)
      chunk.reserve(math.max(end, math.min(2L * chunk.bytes.length, chunkBytes + value.getLength.toLong).toInt))
    System.arraycopy(value.getBytes, 0, chunk.bytes, at, value.getLength)
    chunk.add(nextId, at, value.getLength)
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
