package io.github.pulsarspark.format

import scala.util.Random

import io.netty.buffer.ByteBuf
import org.apache.pulsar.common.api.proto.CompressionType

import io.github.pulsarspark.micro.Turns

/** The decoder of entries alone, with the entries in direct memory. Every value is copied into a reused array, which is
  * the least that a row needs.
  */
object EntryThroughput {
  private val random = new Random(20261121)
  private val row    = new Array[Byte](1 << 12)

  /** Half of a value is random, so that it compresses about two to one. */
  private def entries(count: Int, batch: Int, valueBytes: Int, compression: CompressionType): Array[ByteBuf] =
    Array.tabulate(count) { n =>
      val sent = Seq.tabulate(batch.max(1)) { i =>
        val value = Array.tabulate[Byte](valueBytes)(at => if (at % 2 == 0) 'a' else random.nextInt(16).toByte)
        Sent(
          Some(value.toSeq),
          Some(Sent.Text(s"key-${i % 100}")),
          Nil,
          Some(1700000000000L + i),
          Some(n * 1000L + i),
          None,
          isCompactedOut = false
        )
      }
      StoredEntry(sent, batched = batch > 0, compression).bytes
    }

  private def pass(decoder: EntryDecoder, entries: Array[ByteBuf]): Unit = {
    var i = 0
    while (i < entries.length) {
      decoder.open(1, i.toLong, entries(i), -1, Int.MaxValue)
      while (decoder.next())
        System.arraycopy(decoder.message.bytes, decoder.message.valueOffset, row, 0, decoder.message.valueLength)
      i += 1
    }
  }

  def cases(): Seq[Turns.Case] =
    for {
      (job, count, batch, bytes, compression) <- Seq(
        ("64 B x 1000, NONE", 20, 1000, 64, CompressionType.NONE),
        ("512 B x 10, LZ4", 200, 10, 512, CompressionType.LZ4),
        ("512 B x 250, LZ4", 20, 250, 512, CompressionType.LZ4),
        ("512 B x 10, ZSTD", 200, 10, 512, CompressionType.ZSTD),
        ("512 B x 10, SNAPPY", 200, 10, 512, CompressionType.SNAPPY),
        ("512 B x 10, ZLIB", 200, 10, 512, CompressionType.ZLIB),
        ("1 KiB unbatched, NONE", 2000, 0, 1024, CompressionType.NONE),
        ("64 B unbatched, NONE", 5000, 0, 64, CompressionType.NONE)
      )
      stored = entries(count, batch, bytes, compression)
      depth <- Seq(DecodeDepth.Message, DecodeDepth.Entry)
    } yield {
      val decoder = new EntryDecoder("t", depth)
      Turns.Case(job, s"to the depth $depth", count * batch.max(1), () => pass(decoder, stored))
    }
}
