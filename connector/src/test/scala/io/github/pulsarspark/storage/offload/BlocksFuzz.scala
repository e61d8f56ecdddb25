package io.github.pulsarspark.storage.offload

import java.io.EOFException

import io.netty.buffer.ByteBufUtil
import org.apache.hadoop.fs.FSDataInputStream

import io.github.pulsarspark.format.entry.MalformedBytes
import io.github.pulsarspark.fuzz.{FuzzTarget, Pieces}
import io.github.pulsarspark.storage.offload.format.{BlockBuffers, EntryBuffer, OffloadIndex, UnsupportedOffload}

/** An index of an offloaded ledger, and the blocks that it describes. */
object BlocksFuzz extends FuzzTarget {
  import OffloadWriter._

  private val entries = Seq.tabulate(6)(i => Array.fill(50 + i)(i.toByte))
  private val whole   = blocks(entries, 400, metadata(5))

  override def refusals: Set[Class[_]] =
    Set(classOf[MalformedBytes], classOf[UnsupportedOffload], classOf[EOFException])

  override def seeds: Seq[Array[Byte]] = Seq(
    Pieces.joined(whole.index, whole.data),
    Pieces.joined(blocks(entries.take(1), 400, metadata(0)).index, blocks(entries.take(1), 400, metadata(0)).data)
  )

  override def decode(bytes: Array[Byte]): Any = {
    val (head, data) = Pieces.of(bytes) match {
      case index :: data :: _ => (index, data)
      case _                  => (bytes, Array.emptyByteArray)
    }
    val index = OffloadIndex.parse(head)
    index.ledger.check(ManagedLedger, index.ledger.lastEntryId)
    val buffer = new EntryBuffer
    val source =
      new BlockBuffers(new FSDataInputStream(new SeekableBytes(data)), index, 0, index.ledger.lastEntryId, 256)
    Iterator
      .continually(source.fill(buffer))
      .map(_ => (0 until buffer.count).map(i => ByteBufUtil.hexDump(buffer.entry(i))) -> buffer.lastEntryId)
      .takeWhile(_._2 < index.ledger.lastEntryId)
      .map(_._1)
      .toVector
  }
}
