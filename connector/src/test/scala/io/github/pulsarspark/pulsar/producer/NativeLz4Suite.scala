package io.github.pulsarspark.pulsar.producer

import io.netty.buffer.{ByteBuf, PooledByteBufAllocator, Unpooled}
import org.apache.pulsar.common.compression.CompressionCodecLZ4
import org.scalacheck.Gen
import org.scalacheck.Prop.forAll

import io.github.pulsarspark.PropertySuite

class NativeLz4Suite extends PropertySuite(500) {

  private val ofClient = new CompressionCodecLZ4

  /** Contents from incompressible bytes to a single repeated byte. */
  private val contents: Gen[Array[Byte]] = for {
    size   <- Gen.frequency(4 -> Gen.choose(0, 5_000), 1 -> Gen.choose(60_000, 200_000))
    values <- Gen.oneOf(1, 2, 30, 256)
    seed   <- Gen.long
  } yield {
    val random = new scala.util.Random(seed)
    Array.fill(size)(random.nextInt(values).toByte)
  }

  private val places: Gen[Array[Byte] => ByteBuf] = Gen.oneOf[Array[Byte] => ByteBuf](
    Unpooled.wrappedBuffer(_: Array[Byte]),
    pooled(0)(_),
    pooled(8)(_) // a part of a larger one, as the only message of a batch is
  )

  private def pooled(before: Int)(content: Array[Byte]): ByteBuf =
    PooledByteBufAllocator.DEFAULT.directBuffer(before + content.length)
      .writeZero(before)
      .writeBytes(content)
      .skipBytes(before)
      .readSlice(content.length)

  property("the client unpacks what is packed, into not much more than its own bytes, and the source stays as it was") {
    forAll(contents, places) { (content, place) =>
      val source   = place(content)
      val packed   = NativeLz4.encode(source)
      val own      = ofClient.encode(source)
      val unpacked = ofClient.decode(packed, content.length)
      try {
        assertEquals(source.readableBytes, content.length)
        assertEquals(unpacked, Unpooled.wrappedBuffer(content))
        assert(packed.readableBytes <= own.readableBytes * 1.5 + 16, s"$packed instead of $own")
      } finally Seq(source, packed, own, unpacked).foreach(_.release())
    }
  }
}
