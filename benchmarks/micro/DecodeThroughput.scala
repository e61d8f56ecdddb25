package io.github.pulsarspark.format

import java.lang.management.ManagementFactory

import scala.util.Random

import io.netty.buffer.ByteBuf
import org.apache.pulsar.common.api.proto.CompressionType

/** Measures the decoder alone on one thread, with the entries in direct memory:
  * `connector/Test/fgRunMain io.github.pulsarspark.log.DecodeThroughput`.
  *
  * Every value is copied into a reused array, which is the least that a row needs. The number of rounds can be given.
  */
object DecodeThroughput {
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

  /** Messages read in a pass over all entries. */
  private def pass(decoder: EntryDecoder, entries: Array[ByteBuf]): Long = {
    var messages = 0L
    var i        = 0
    while (i < entries.length) {
      decoder.open(1, i.toLong, entries(i), -1, Int.MaxValue)
      while (decoder.next()) {
        System.arraycopy(decoder.message.bytes, decoder.message.valueOffset, row, 0, decoder.message.valueLength)
        messages += 1
      }
      i += 1
    }
    messages
  }

  /** CPU time, so that other work on the machine does not count. */
  private def now(): Long = ManagementFactory.getThreadMXBean.getCurrentThreadCpuTime

  /** Messages per second of CPU time, the best of the rounds of a second each, after one to warm up. */
  private def rate(level: DecodeDepth, entries: Array[ByteBuf], rounds: Int): Double = {
    val decoder = new EntryDecoder("t", level)
    val rates   = for (_ <- 0 to rounds) yield {
      val start    = now()
      var messages = 0L
      while (now() - start < 1000000000L) messages += pass(decoder, entries)
      messages * 1e9 / (now() - start)
    }
    rates.tail.max
  }

  def main(arguments: Array[String]): Unit = {
    val rounds = arguments.headOption.fold(3)(_.toInt)
    for (
      (name, count, batch, bytes, compression) <- Seq(
        ("64 B x 1000, NONE", 20, 1000, 64, CompressionType.NONE),
        ("512 B x 10, LZ4", 200, 10, 512, CompressionType.LZ4),
        ("512 B x 250, LZ4", 20, 250, 512, CompressionType.LZ4),
        ("512 B x 10, ZSTD", 200, 10, 512, CompressionType.ZSTD),
        ("512 B x 10, SNAPPY", 200, 10, 512, CompressionType.SNAPPY),
        ("512 B x 10, ZLIB", 200, 10, 512, CompressionType.ZLIB),
        ("1 KiB unbatched, NONE", 2000, 0, 1024, CompressionType.NONE),
        ("64 B unbatched, NONE", 5000, 0, 64, CompressionType.NONE)
      )
    ) {
      val made  = entries(count, batch, bytes, compression)
      val rates = Seq(DecodeDepth.Message, DecodeDepth.Entry).map(level =>
        f"$level ${rate(level, made, rounds) / 1e6}%8.2f M msgs/s"
      )
      println(f"$name%-24s ${rates.mkString("   ")}")
    }
  }
}
