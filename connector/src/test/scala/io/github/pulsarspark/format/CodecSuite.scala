package io.github.pulsarspark.format

import java.util.Arrays

import io.netty.buffer.{ByteBufUtil, Unpooled}
import org.apache.pulsar.common.api.proto.CompressionType
import org.apache.pulsar.common.compression.CompressionCodecProvider

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.format.entry.MalformedBytes

class CodecSuite extends UnitSuite {

  private val types = Seq("LZ4" -> CompressionType.LZ4, "ZLIB" -> CompressionType.ZLIB, "ZSTD" -> CompressionType.ZSTD,
    "SNAPPY" -> CompressionType.SNAPPY)

  private def packed(kind: CompressionType, bytes: Array[Byte]): Array[Byte] = {
    val result = CompressionCodecProvider.getCompressionCodec(kind).encode(Unpooled.directBuffer().writeBytes(bytes))
    ByteBufUtil.getBytes(result)
  }

  private val payload = Array.tabulate[Byte](3000)(i => (i % 7).toByte)

  /** The part of an array to which bytes were unpacked, after a check that nothing else was touched. */
  private def unpacked(codec: Codec, bytes: Array[Byte], size: Int): Seq[Byte] = {
    val (from, target) = (Array[Byte](8, 8) ++ bytes :+ 8.toByte, Array.fill[Byte](size + 5)(9))
    try codec.unpack(from, 2, bytes.length, target, 3, 3 + size)
    finally assertEquals(target.take(3).toSeq ++ target.takeRight(2), Seq.fill[Byte](5)(9))
    Arrays.copyOfRange(target, 3, 3 + size).toSeq
  }

  test("the numbers of Pulsar's protocol, from 1 on") {
    assertEquals(Codec.all().map(_.name), types.sortBy(_._2.getValue).map(_._1).toVector)
    assertEquals(types.map(_._2.getValue).sorted, Seq(1, 2, 3, 4))
  }

  for (((name, kind), i) <- types.zipWithIndex) {
    def codec = Codec.all()(i)

    test(s"$name: what Pulsar's client packed, again and again, into a part of an array") {
      val own = codec
      assertEquals(unpacked(own, packed(kind, payload), payload.length), payload.toSeq)
      assertEquals(unpacked(own, packed(kind, payload.take(9)), 9), payload.take(9).toSeq)
    }

    test(s"$name: a size that is one too small or too large is an error, and nothing is written outside") {
      Seq(-1, 1).foreach { difference =>
        intercept[Exception](unpacked(codec, packed(kind, payload), payload.length + difference))
      }
    }

    test(s"$name: after an error the next payload is read") {
      val own = codec
      intercept[Exception](unpacked(own, Array.fill[Byte](20)(-1), 100))
      assertEquals(unpacked(own, packed(kind, payload), payload.length), payload.toSeq)
    }
  }

  test("the error names both sizes") {
    val e = intercept[MalformedBytes](unpacked(Codec.all().last, packed(CompressionType.SNAPPY, payload), 10))
    assertEquals(e.getMessage, "SNAPPY payload unpacks to 3000 bytes instead of the 10 its metadata says")
  }
}
