package io.github.pulsarspark.format

import io.netty.buffer.{ByteBuf, Unpooled}
import org.apache.pulsar.common.api.proto.CompressionType
import org.scalacheck.{Gen, Prop}
import org.scalacheck.Prop.forAll

import io.github.pulsarspark.PropertySuite

/** Entries of any form and compression, as [[PayloadReader]] opens them, are those of Pulsar's client. */
class EntryDecoderSuite extends PropertySuite {

  private def decoder(level: DecodeDepth = DecodeDepth.Message, ownBytes: Boolean = true) =
    new EntryDecoder("persistent://a/b/t", level, ownBytes = ownBytes)

  private def same(decoder: EntryDecoder, stored: StoredEntry): Unit = {
    val bytes = stored.bytes
    assertEquals(Received.byDecoder(decoder, bytes), Received.byClient(bytes.duplicate()))
  }

  for {
    compression <- CompressionType.values
    size        <- Seq(0, 1, 2, 7)
  } property(s"reads what the client reads: $compression, ${if (size == 0) "no batch" else s"batch of $size"}") {
    val reused      = decoder()
    val overwriting = decoder(ownBytes = false)
    forAll(SentGenerators.entry(size, compression)) { e => same(reused, e); same(overwriting, e) }
  }

  for (compression <- CompressionType.values) test(s"reads what the client reads: $compression, batch of 1000") {
    val reused      = decoder()
    val overwriting = decoder(ownBytes = false)
    check(forAll(SentGenerators.entry(1000, compression)) { e => same(reused, e); same(overwriting, e); true },
      runs = 5)
  }

  private def check(prop: Prop, runs: Int): Unit = {
    val result = org.scalacheck.Test.check(scalaCheckTestParameters.withMinSuccessfulTests(runs), prop)
    assert(result.passed, result.status.toString)
  }

  property("yields the messages behind afterIndex up to and including lastIndex") {
    val reused = decoder()
    forAll(SentGenerators.entry(7, CompressionType.LZ4), Gen.choose(-1, 9), Gen.choose(-1, 9)) {
      (stored, after, last) =>
        val all    = Received.byClient(stored.bytes)
        val wanted = all.filter(m => m.batchIndex > after && m.batchIndex <= last)
        assertEquals(Received.byDecoder(reused, stored.bytes, after, last), wanted)
    }
  }

  test("a message that is not in a batch is there whatever the bounds") {
    val stored = StoredEntry(Seq(Sent.text("only")), batched = false)
    for ((after, last) <- Seq(-1 -> -1, 5 -> 2, Int.MaxValue -> 0))
      assertEquals(Received.byDecoder(decoder(), stored.bytes, after, last).map(_.batchIndex), List(-1))
  }

  property("reads the same from heap, direct, composite and sliced buffers, and leaves them as they were") {
    forAll(SentGenerators.smallEntry) { stored =>
      val direct = stored.bytes
      val length = direct.readableBytes
      val array  = new Array[Byte](length)
      direct.getBytes(0, array)
      val cut       = length / 2
      val shifted   = Unpooled.buffer().writeZero(3).writeBytes(array).writeZero(2)
      val composite =
        Unpooled.compositeBuffer().addComponents(
          true,
          Unpooled.copiedBuffer(array.take(cut)),
          Unpooled.directBuffer().writeBytes(array.drop(cut))
        )
      val expected = Received.byDecoder(decoder(), direct)
      for (
        buffer <- Seq[ByteBuf](
          Unpooled.wrappedBuffer(array),
          shifted.slice(3, length),
          composite,
          Unpooled.buffer().writeByte(1).writeBytes(array).skipBytes(1)
        )
      ) {
        val start = buffer.readerIndex
        assertEquals(Received.byDecoder(decoder(), buffer), expected)
        assertEquals((buffer.readerIndex, buffer.refCnt), (start, 1))
      }
    }
  }

  /** The first value of each of some entries of one size, looked at when all are decoded. */
  private def valuesAfterwards(reused: EntryDecoder): Seq[String] = {
    val ranges = for (i <- 10 until 30) yield {
      val stored =
        StoredEntry(Seq(Sent.text(s"value $i"), Sent.text("x")), batched = true, CompressionType.values()(i % 5))
      reused.open(1, i.toLong, stored.bytes, -1, Int.MaxValue)
      assert(reused.next())
      (reused.message.bytes, reused.message.valueOffset, reused.message.valueLength)
    }
    ranges.map { case (bytes, from, length) => new String(bytes, from, length, "UTF-8") }
  }

  test("values stay as they are when later entries are decoded, unless bytes may be overwritten") {
    assertEquals(valuesAfterwards(decoder()), (10 until 30).map(i => s"value $i"))
    assertEquals(valuesAfterwards(decoder(ownBytes = false)).last, "value 29")
    assert(valuesAfterwards(decoder(ownBytes = false)).toSet.size < 20)
  }

  test("depth Entry reads positions and shared fields without touching the payload") {
    val whole = StoredEntry(Seq.fill(7)(Sent.text("v")), batched = true, checksum = false, brokerTime = Some(9),
      brokerIndex = Some(106))
    val bytes = whole.bytes
    bytes.setZero(bytes.writerIndex - 20, 20)
    val counting = decoder(DecodeDepth.Entry)
    counting.open(3, 5, bytes, 1, 5)
    assertEquals((counting.messagesInEntry, counting.entryBytes), (7, bytes.readableBytes))
    assertEquals((counting.message.publishTime, counting.message.producerName), (1700000000123L, "producer-ä"))
    val seen = Iterator.continually(counting).takeWhile(_.next()).map(d =>
      (d.message.batchIndex, d.message.index, d.message.brokerPublishTime)
    ).toList
    assertEquals(seen, List((2, 102L, 9L), (3, 103L, 9L), (4, 104L, 9L), (5, 105L, 9L)))
    assertEquals(counting.message.bytes.length, 0)
  }

  test("depth Entry skips messages that compaction removed when the entry lists them") {
    val removed = Sent.text("").copy(isCompactedOut = true)
    val stored  =
      StoredEntry(Seq(removed, Sent.text("kept"), removed), batched = true, metadata = _.addCompactedBatchIndexe(1))
    assertEquals(Received.byDecoder(decoder(DecodeDepth.Entry), stored.bytes).map(_.batchIndex), List(1))
  }

  test("markers of the server are no messages, at any depth") {
    val marker = StoredEntry(Seq(Sent.text("")), batched = false, metadata = _.setMarkerType(21))
    for (level <- Seq(DecodeDepth.Entry, DecodeDepth.Message))
      assertEquals(Received.byDecoder(decoder(level), marker.bytes), Nil)
  }

  test("equal producer names and schema versions are one object") {
    val reused = decoder()
    val stored = StoredEntry(Seq(Sent.text("a")), batched = true, metadata = _.setSchemaVersion(Array[Byte](0, 7)))
    val shared = (0 until 2).map { i =>
      reused.open(1, i.toLong, stored.bytes, -1, Int.MaxValue)
      (reused.message.producerName, reused.message.schemaVersion)
    }
    assert((shared.head._1 eq shared.last._1) && (shared.head._2 eq shared.last._2))
    reused.open(1, 2, StoredEntry(Seq(Sent.text("a")), batched = true).bytes, -1, Int.MaxValue)
    assertEquals(reused.message.schemaVersion.length, 0)
  }

  test("fields of newer protocol versions are skipped") {
    val single  = Array[Byte](24, 1, 122, 2, 9, 9, 125, 1, 2, 3, 4, 121, 1, 2, 3, 4, 5, 6, 7, 8, 120, 5)
    val payload = Unpooled.buffer().writeInt(single.length).writeBytes(single).writeByte('v'.toInt)
    val stored  = StoredEntry(Nil, batched = true, checksum = false,
      metadata = _.setNumMessagesInBatch(1)).bytes.writeBytes(payload)
    intercept[RuntimeException](
      decoder().open(1, 1, stored.duplicate().writerIndex(stored.writerIndex - 24), -1, Int.MaxValue)
    )
    assertEquals(Received.byDecoder(decoder(), stored).map(_.value), List(Some(Seq('v'.toByte))))
  }
}
