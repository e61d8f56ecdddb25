package io.github.pulsarspark.format

import scala.util.{Failure, Success, Try}

import io.netty.buffer.{ByteBuf, Unpooled}
import org.apache.pulsar.common.api.proto.CompressionType
import org.scalacheck.Gen
import org.scalacheck.Prop.forAll

import io.github.pulsarspark.PropertySuite
import io.github.pulsarspark.errors.PulsarError

/** Bad bytes end in a named error that gives topic and position: never in another exception, an endless loop or a large
  * allocation.
  */
class DamagedEntrySuite extends PropertySuite {

  private val limit  = 1 << 20
  private val reused = new EntryDecoder("persistent://a/b/t", DecodeDepth.Message, limit)

  /** The messages, or the name of the error. */
  private def outcome(entry: ByteBuf, decoder: EntryDecoder = reused): Either[String, List[Received]] =
    Try(Received.byDecoder(decoder, entry)) match {
      case Success(messages)       => Right(messages)
      case Failure(e: PulsarError) =>
        assert(e.getMessage.contains("3:5") && e.getMessage.contains("persistent://a/b/t"), e.getMessage)
        assert(!decoder.next(), "no message after an error")
        Left(e.condition)
      case Failure(other) =>
        throw new AssertionError(s"unnamed error for ${io.netty.buffer.ByteBufUtil.hexDump(entry)}", other)
    }

  private def flipped(entry: ByteBuf, bit: Int): ByteBuf =
    entry.setByte(bit / 8, entry.getByte(bit / 8) ^ (1 << (bit % 8)))

  private val named =
    Seq("PULSAR_ENTRY_CORRUPT", "PULSAR_ENTRY_UNSUPPORTED", "PULSAR_ENTRY_TOO_LARGE", "PULSAR_ENTRY_ENCRYPTED")

  property("the checksum finds every flipped bit, at every level") {
    val counting = new EntryDecoder("persistent://a/b/t", DecodeDepth.Entry)
    forAll(SentGenerators.smallEntry, Gen.long) { (stored, place) =>
      val entry = stored.copy(checksum = true, brokerTime = None, brokerIndex = None).bytes
      val bad   = flipped(entry, (place & Long.MaxValue).%(entry.readableBytes * 8L).toInt)
      assertEquals(outcome(bad), Left("PULSAR_ENTRY_CORRUPT"))
      assertEquals(outcome(bad, counting), Left("PULSAR_ENTRY_CORRUPT"))
    }
  }

  property("without a checksum, a batch that is cut off is an error or, when only padding is missing, whole") {
    forAll(SentGenerators.smallEntry.map(_.copy(checksum = false, batched = true)), Gen.choose(0.0, 1.0)) {
      (stored, part) =>
        val entry = stored.bytes
        val whole = outcome(entry)
        val cut   = outcome(entry.slice(0, (part * (entry.readableBytes - 1)).toInt))
        assert(cut == Left("PULSAR_ENTRY_CORRUPT") || stored.compression == CompressionType.ZLIB && cut == whole, cut)
    }
  }

  test("without a checksum, a batch cut off at any byte is an error") {
    val key   = Some(Sent.Text("k"))
    val entry =
      StoredEntry(Seq.fill(2)(Sent.text("a value").copy(key = key, properties = Seq("n" -> "v"))), batched = true,
        checksum = false).bytes
    for (length <- 0 until entry.readableBytes)
      assertEquals(outcome(entry.slice(0, length)), Left("PULSAR_ENTRY_CORRUPT"), length)
  }

  property("without a checksum, changed bytes are messages or a named error") {
    val change = Gen.listOf(Gen.zip(Gen.choose(0.0, 1.0), Gen.choose(0, 255)))
    forAll(SentGenerators.smallEntry.map(_.copy(checksum = false)), change) { (stored, changes) =>
      val entry = stored.bytes
      changes.foreach { case (place, byte) => entry.setByte((place * (entry.readableBytes - 1)).toInt, byte) }
      outcome(entry).left.foreach(condition => assert(named.contains(condition), condition))
    }
  }

  property("random bytes, alone or as payload, are messages or a named error") {
    val bytes = Gen.choose(0, 300).flatMap(n => Gen.listOfN(n, Gen.choose(0, 255).map(_.toByte)))
    forAll(bytes, Gen.choose(0, 5), Gen.choose(0, 400)) { (random, codec, claimed) =>
      outcome(Unpooled.wrappedBuffer(random.toArray)).left.foreach(condition =>
        assert(named.contains(condition), condition)
      )
      val stored = StoredEntry(
        Seq(Sent.text("")),
        batched = false,
        checksum = false,
        metadata = m => {
          if (codec < 5) m.setCompression(CompressionType.valueOf(codec));
          m.setUncompressedSize(claimed).setNumMessagesInBatch(2); ()
        }
      ).bytes.writeBytes(random.toArray)
      outcome(stored).left.foreach(condition => assert(named.contains(condition), condition))
    }
  }

  for (compression <- CompressionType.values.toSeq.tail) test(s"$compression: a wrong uncompressed size is an error") {
    for (wrong <- Seq(0, 5, 10, 12, 400)) {
      val stored =
        StoredEntry(Seq(Sent.text("elevenbytes")), batched = false, compression,
          metadata = m => { m.setUncompressedSize(wrong); () })
      assertEquals(outcome(stored.bytes), Left("PULSAR_ENTRY_CORRUPT"), wrong)
    }
  }

  for (compression <- CompressionType.values.toSeq.tail)
    test(s"$compression: a claimed size above the limit is refused, one at the limit is read") {
      val value = Some(Seq.fill[Byte](limit)(1))
      val bomb  = StoredEntry(Seq(Sent.text("").copy(value = value)), batched = false, compression)
      assertEquals(outcome(bomb.bytes).map(_.map(_.value)), Right(List(value)))
      assertEquals(outcome(bomb.copy(metadata = m => { m.setUncompressedSize(limit + 1); () }).bytes),
        Left("PULSAR_ENTRY_TOO_LARGE"))
      assertEquals(outcome(bomb.copy(metadata = m => { m.setUncompressedSize(Int.MaxValue); () }).bytes),
        Left("PULSAR_ENTRY_TOO_LARGE"))
      assertEquals(outcome(bomb.copy(metadata = m => { m.setUncompressedSize(-1); () }).bytes),
        Left("PULSAR_ENTRY_CORRUPT"))
    }

  test("more messages than fit into the payload are an error before they are counted") {
    for (claimed <- Seq(-1, 4, Int.MaxValue)) {
      val stored = StoredEntry(Seq.fill(3)(Sent.text("")), batched = true,
        metadata = m => { m.setNumMessagesInBatch(claimed); () })
      assertEquals(outcome(stored.bytes, new EntryDecoder("persistent://a/b/t", DecodeDepth.Entry)),
        Left("PULSAR_ENTRY_CORRUPT"))
    }
  }

  test("a compressed batch that claims more messages than may be unpacked is an error before they are counted") {
    val stored = StoredEntry(Seq(Sent.text("")), batched = true, CompressionType.ZSTD,
      metadata = m => { m.setUncompressedSize(Int.MaxValue).setNumMessagesInBatch(300000000); () })
    assertEquals(outcome(stored.bytes, new EntryDecoder("persistent://a/b/t", DecodeDepth.Entry)),
      Left("PULSAR_ENTRY_CORRUPT"))
  }

  test("encrypted entries can be counted, but not opened") {
    val stored = StoredEntry(
      Seq.fill(3)(Sent.text("")),
      batched = true,
      metadata = m => { m.addEncryptionKey().setKey("k").setValue(Array[Byte](1)); () }
    )
    assertEquals(outcome(stored.bytes), Left("PULSAR_ENTRY_ENCRYPTED"))
    assertEquals(outcome(stored.bytes, new EntryDecoder("t", DecodeDepth.Entry)).map(_.size), Right(3))
  }

  test("a message split into one chunk is a message") {
    val stored =
      StoredEntry(Seq(Sent.text("all")), batched = false,
        metadata = m => { m.setUuid("u").setChunkId(0).setNumChunksFromMsg(1); () })
    assertEquals(outcome(stored.bytes).map(_.size), Right(1))
  }

  test("an unknown compression is not taken for none") {
    val stored = StoredEntry(Seq(Sent.text("v")), batched = false, checksum = false).bytes
    val at     = 4 + stored.getInt(0)
    val newer  = Unpooled.buffer().writeInt(stored.getInt(0) + 4).writeBytes(
      stored,
      4,
      at - 4
    ).writeBytes(Array[Byte](64, 9, 72, 1)).writeBytes(stored, at, 1)
    val error = intercept[RuntimeException](Received.byDecoder(reused, newer))
    assert(
      error.getMessage.startsWith(
        "[PULSAR_ENTRY_UNSUPPORTED] Entry 3:5 of persistent://a/b/t uses compression number 9, which is not supported."
      ),
      error.getMessage
    )
  }

  test("a key that is not base64 although it says so is an error") {
    val stored =
      StoredEntry(Seq(Sent.text("v")), batched = false,
        metadata = m => { m.setPartitionKey("?").setPartitionKeyB64Encoded(true); () })
    val error = intercept[RuntimeException](Received.byDecoder(reused, stored.bytes))
    assert(error.getMessage.contains("damaged: malformed metadata: a key is marked as base64 but is not."),
      error.getMessage)
  }
}
