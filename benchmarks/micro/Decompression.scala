package io.github.pulsarspark.format

import scala.util.Random

import io.netty.buffer.Unpooled
import org.apache.pulsar.common.api.proto.CompressionType
import org.apache.pulsar.common.compression.CompressionCodecProvider

import io.github.pulsarspark.micro.Turns

/** Payloads of batches unpacked into an array: by our codecs, and by those of Pulsar's client. */
object Decompression {
  private val random = new Random(20261123)
  private val Times  = 100

  /** Half of it is random, so that it compresses about two to one. */
  private def plain(size: Int) =
    Array.tabulate[Byte](size)(at => if (at % 2 == 0) 'a' else random.nextInt(16).toByte)

  def cases(): Seq[Turns.Case] =
    for {
      kind <- Seq(CompressionType.LZ4, CompressionType.ZLIB, CompressionType.ZSTD, CompressionType.SNAPPY)
      size <- Seq(5000, 100000)
      pulsar = CompressionCodecProvider.getCompressionCodec(kind)
      codec  = Codec.all()(kind.getValue - 1)
      packed = {
        val buffer = pulsar.encode(Unpooled.wrappedBuffer(plain(size)))
        val bytes  = new Array[Byte](buffer.readableBytes)
        buffer.readBytes(bytes).release()
        bytes
      }
      target = new Array[Byte](size)
      (who, unpack) <- Seq[(String, () => Unit)](
        "connector"    -> (() => codec.unpack(packed, 0, packed.length, target, 0, size)),
        "Pulsar's own" -> { () =>
          val unpacked = pulsar.decode(Unpooled.wrappedBuffer(packed), size)
          unpacked.readBytes(target)
          unpacked.release()
          ()
        }
      )
    } yield Turns.Case(s"$kind, $size bytes", who, Times, () => (0 until Times).foreach(_ => unpack()))
}
