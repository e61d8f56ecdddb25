package io.github.pulsarspark.pulsar.producer

import scala.util.control.NonFatal

import io.netty.buffer.ByteBuf
import org.apache.pulsar.common.allocator.PulsarByteBufAllocator
import org.apache.pulsar.common.compression.CompressionCodecLZ4

import io.github.pulsarspark.common.Lz4

/** Packs as the client's own codec does, with the native library that Spark brings. All threads share it. */
private[pulsarspark] object NativeLz4 extends CompressionCodecLZ4 {
  private val compressor = Lz4.factory.fastCompressor()

  /** A new buffer; the source stays as it is. */
  override def encode(source: ByteBuf): ByteBuf = {
    val size   = source.readableBytes
    val most   = compressor.maxCompressedLength(size)
    val target = PulsarByteBufAllocator.DEFAULT.buffer(most, most)
    try {
      val from = source.nioBuffer()
      val to   = target.nioBuffer(0, most)
      target.writerIndex(compressor.compress(from, from.position(), size, to, to.position(), most))
    } catch {
      case NonFatal(e) =>
        target.release()
        throw e
    }
  }
}
