package io.github.pulsarspark.format

import java.lang.ref.Cleaner
import java.util.zip.Inflater

import com.github.luben.zstd.ZstdDecompressCtx
import org.xerial.snappy.Snappy

import io.github.pulsarspark.common.Lz4
import io.github.pulsarspark.format.entry.MalformedBytes

/** Compression of an entry's payload.
  *
  * The libraries are the native ones that Spark itself brings, so nothing is bundled. Pulsar's own codecs unpack into
  * memory outside the heap and take up to twice the CPU (benchmarks/results/micro.md). An instance keeps state between
  * entries and belongs to one decoder and one thread.
  */
private[format] sealed abstract class Codec(val name: String) {

  /** Unpacks `length` bytes of `packed` from `from` on into `target` from `at` to `end`. Throws when they do not unpack
    * to exactly that size; never writes outside that part of the target.
    */
  final def unpack(packed: Array[Byte], from: Int, length: Int, target: Array[Byte], at: Int, end: Int): Unit = {
    val expected = end - at
    val size     = unpackedSize(packed, from, length, target, at, end)
    if (size != expected)
      throw new MalformedBytes(s"$name payload unpacks to $size bytes instead of the $expected its metadata says")
  }

  /** The size it unpacked to, or would have when that is not that of the part. */
  protected def unpackedSize(packed: Array[Byte], from: Int, length: Int, target: Array[Byte], at: Int, end: Int): Int
}

private[format] object Codec {

  /** The codecs of one decoder: the one that metadata calls number n, from 1 on, is at n - 1. Number 0 is no
    * compression.
    */
  def all(): Vector[Codec] = Vector(new Lz4Block, new Zlib, new Zstandard, new SnappyRaw)

  private final class Lz4Block extends Codec("LZ4") {
    private lazy val decompressor = Lz4.factory.safeDecompressor()

    protected def unpackedSize(
        packed: Array[Byte],
        from: Int,
        length: Int,
        target: Array[Byte],
        at: Int,
        end: Int
    ): Int =
      decompressor.decompress(packed, from, length, target, at, end - at)
  }

  private final class Zlib extends Codec("ZLIB") {
    private lazy val inflater = new Inflater // frees its native memory when it is garbage

    /** Pulsar's producers flush the stream but do not finish it, so its end is unknown: one byte more or fewer than
      * expected is a mismatch.
      */
    protected def unpackedSize(
        packed: Array[Byte],
        from: Int,
        length: Int,
        target: Array[Byte],
        at: Int,
        end: Int
    ): Int = {
      inflater.reset()
      inflater.setInput(packed, from, length)
      var next  = at
      var moves = true
      while (moves && next < end) {
        val count = inflater.inflate(target, next, end - next)
        next += count
        moves = count > 0
      }
      next - at + inflater.inflate(new Array[Byte](1))
    }
  }

  private final class Zstandard extends Codec("ZSTD") {

    /** A new one for each entry would cost as much as unpacking 4 KB. */
    private lazy val context = Zstandard.contextFor(this)

    protected def unpackedSize(
        packed: Array[Byte],
        from: Int,
        length: Int,
        target: Array[Byte],
        at: Int,
        end: Int
    ): Int =
      context.decompressByteArray(target, at, end - at, packed, from, length)
  }

  private object Zstandard {
    private val cleaner = Cleaner.create()

    /** Creates a context with a cleaner: unlike an inflater, it does not free its native memory by itself. */
    def contextFor(user: Zstandard): ZstdDecompressCtx = {
      val context = new ZstdDecompressCtx
      cleaner.register(user, () => context.close())
      context
    }
  }

  private final class SnappyRaw extends Codec("SNAPPY") {

    /** The library trusts the size that is stored before the data and checks no bounds, so that size is compared first.
      */
    protected def unpackedSize(
        packed: Array[Byte],
        from: Int,
        length: Int,
        target: Array[Byte],
        at: Int,
        end: Int
    ): Int = {
      val stored = Snappy.uncompressedLength(packed, from, length)
      if (stored == end - at) Snappy.uncompress(packed, from, length, target, at) else stored
    }
  }
}
