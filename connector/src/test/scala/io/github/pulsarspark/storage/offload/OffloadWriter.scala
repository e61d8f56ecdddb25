package io.github.pulsarspark.storage.offload

import java.io.ByteArrayOutputStream
import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path => FilePath}
import java.util.UUID

import scala.annotation.tailrec

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.hadoop.io.{BytesWritable, LongWritable, MapFile, SequenceFile, Writable}

import io.github.pulsarspark.storage.offload.format.{BlockFormat, MapFileFormat, OffloadLocation, OffloadedLedger}

/** Writes ledgers into a folder as Pulsar's offloaders do. */
private[offload] final class OffloadWriter(folder: FilePath) {
  import OffloadWriter._

  val configuration = new Configuration

  def blockLedger(ledgerId: Long = 7): OffloadedLedger =
    ledger(ledgerId, OffloadLocation(BlockFormat, folder.toUri.toString))
  def mapLedger(ledgerId: Long = 7): OffloadedLedger =
    ledger(ledgerId, OffloadLocation(MapFileFormat, folder.toUri.toString))

  private def ledger(ledgerId: Long, location: OffloadLocation) =
    OffloadedLedger(ledgerId, UUID.randomUUID().toString, ManagedLedger, location)

  /** Writes data and index; `change` may damage both. */
  def writeBlocks(ledger: OffloadedLedger, blocks: Blocks): Unit = {
    val data = ledger.data
    write(data, blocks.data)
    write(data.suffix("-index"), blocks.index)
  }

  def write(file: Path, bytes: Array[Byte]): Unit = { Files.write(FilePath.of(file.toUri), bytes); () }

  /** Compressed by blocks, as the profile that comes with Pulsar says. */
  def writeMapFile(
      ledger: OffloadedLedger,
      entries: Seq[(Long, Array[Byte])],
      compression: SequenceFile.CompressionType = SequenceFile.CompressionType.BLOCK
  ): Unit =
    writeMap(ledger, classOf[BytesWritable], entries.map { case (id, bytes) => (id, new BytesWritable(bytes)) },
      compression)

  def writeMap[V <: Writable](
      ledger: OffloadedLedger,
      values: Class[V],
      entries: Seq[(Long, V)],
      compression: SequenceFile.CompressionType = SequenceFile.CompressionType.BLOCK
  ): Unit = {
    val options =
      Seq(MapFile.Writer.keyClass(classOf[LongWritable]), MapFile.Writer.valueClass(values),
        MapFile.Writer.compression(compression))
    val writer = new MapFile.Writer(configuration, ledger.data, options: _*)
    try entries.foreach { case (id, value) => writer.append(new LongWritable(id), value) }
    finally writer.close()
  }
}

private[offload] object OffloadWriter {
  val ManagedLedger = "tenant/space/persistent/a%2Ftopic-partition-3"
  val Topic         = "persistent://tenant/space/a/topic-partition-3"
  val HeaderLength  = 128

  private val Padding = Array(0xfe, 0xdc, 0xde, 0xad).map(_.toByte)

  /** Data object and index object of a ledger, and the positions of its blocks. */
  final case class Blocks(data: Array[Byte], index: Array[Byte], starts: Seq[(Long, Long)])

  /** @param blockBytes
    *   size of every block but the last, which has the size it needs
    */
  def blocks(entries: Seq[Array[Byte]], blockBytes: Int, metadata: Array[Byte]): Blocks = {
    val data                              = new ByteArrayOutputStream
    val starts                            = Seq.newBuilder[(Long, Long)]
    @tailrec def append(first: Int): Unit = if (first < entries.size) {
      val sizes = entries.drop(first).scanLeft(HeaderLength)((sum, entry) => sum + 12 + entry.length)
      val count = sizes.tail.takeWhile(_ <= blockBytes).size
      require(count > 0, "an entry is larger than a block")
      val isLast = first + count == entries.size
      val size   = if (isLast) sizes(count) else blockBytes
      starts += ((first.toLong, data.size.toLong))
      data.write(
        ByteBuffer.allocate(HeaderLength).putInt(0xfbdbabcb).putLong(HeaderLength.toLong).putLong(size.toLong).putLong(
          first.toLong
        ).array
      )
      for (id <- first until first + count) {
        data.write(ByteBuffer.allocate(12).putInt(entries(id).length).putLong(id.toLong).array)
        data.write(entries(id))
      }
      (0 until size - sizes(count)).foreach(i => data.write(Padding(i % 4).toInt))
      append(first + count)
    }
    append(0)
    Blocks(data.toByteArray, index(starts.result(), data.size.toLong, metadata), starts.result())
  }

  def index(starts: Seq[(Long, Long)], dataLength: Long, metadata: Array[Byte]): Array[Byte] = {
    val size = 32 + metadata.length + 20 * starts.size
    val out = ByteBuffer.allocate(size).putInt(0xde47de47).putInt(size).putLong(dataLength).putLong(HeaderLength.toLong)
    out.putInt(starts.size).putInt(metadata.length).put(metadata)
    starts.zipWithIndex.foreach { case ((entryId, offset), i) => out.putLong(entryId).putInt(i + 1).putLong(offset) }
    out.array
  }

  /** BookKeeper's `LedgerMetadataFormat`, with the fields that brokers set. */
  def metadata(lastEntryId: Long, managedLedger: Option[String] = Some(ManagedLedger)): Array[Byte] = {
    val out = new ByteArrayOutputStream
    number(out, 1, 2)       // write quorum
    number(out, 2, 2)       // ensemble
    number(out, 3, 1234567) // length in bytes
    number(out, 4, lastEntryId)
    number(out, 5, 3) // closed
    val ensemble = new ByteArrayOutputStream
    text(ensemble, 1, "127.0.0.1:3181".getBytes(UTF_8))
    number(ensemble, 2, 0)
    text(out, 6, ensemble.toByteArray)
    (Seq("application" -> "pulsar", "component" -> "managed-ledger") ++
      managedLedger.map("pulsar/managed-ledger" -> _)).foreach {
      case (key, value) =>
        val pair = new ByteArrayOutputStream
        text(pair, 1, key.getBytes(UTF_8))
        text(pair, 2, value.getBytes(UTF_8))
        text(out, 11, pair.toByteArray)
    }
    out.toByteArray
  }

  private def number(out: ByteArrayOutputStream, field: Int, value: Long): Unit = {
    out.write(field << 3)
    varint(out, value)
  }

  private def text(out: ByteArrayOutputStream, field: Int, bytes: Array[Byte]): Unit = {
    out.write(field << 3 | 2)
    varint(out, bytes.length.toLong)
    out.write(bytes)
  }

  @tailrec private def varint(out: ByteArrayOutputStream, value: Long): Unit =
    if (value < 128) out.write(value.toInt)
    else {
      out.write((value & 127 | 128).toInt)
      varint(out, value >>> 7)
    }
}
