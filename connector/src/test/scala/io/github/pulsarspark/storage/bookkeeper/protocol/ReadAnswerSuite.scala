package io.github.pulsarspark.storage.bookkeeper.protocol

import java.nio.ByteBuffer

import io.netty.buffer.Unpooled
import org.apache.bookkeeper.proto.DataFormats.LedgerMetadataFormat.DigestType

import io.github.pulsarspark.UnitSuite

/** Responses of bookies, byte by byte. */
class ReadAnswerSuite extends UnitSuite {
  import ScriptedBookie.{int, stored}

  private val digest = EntryDigest.of("CRC32C").get

  private def entry(id: Long, ledger: Long = 7): Array[Byte] =
    stored(ledger, id, s"entry $id".getBytes, DigestType.CRC32C)

  private def head(isBatch: Boolean, code: Int, id: Long): Array[Byte] = {
    val head = ByteBuffer.allocate(if (isBatch) 32 else 24).putInt(ReadRequest.header(isBatch)).putInt(code)
    head.putLong(7).putLong(3)
    if (isBatch) head.putLong(id)
    head.array
  }

  private def of(isBatch: Boolean, bytes: Array[Byte]) =
    new ReadAnswer(Unpooled.directBuffer().writeBytes(bytes), isBatch)
  private def batch(entries: Array[Byte]*) =
    of(isBatch = true, head(isBatch = true, 0, 55) ++ entries.flatMap(e => int(e.length) ++ e))

  private def text(answer: ReadAnswer): String = answer.entry.toString(java.nio.charset.StandardCharsets.UTF_8)

  private def failed(problem: String)(body: => Any): Unit = {
    val e = intercept[ReplicaFailed](body)
    assertEquals((e.getMessage, e.isSlow), (problem, false))
  }

  test("a response of several entries, one after the other") {
    val answer = batch(entry(3), entry(4))
    answer.check()
    assert(answer.isFormed && answer.hasEntries)
    assert(answer.next(7, 3, digest))
    assertEquals(text(answer), "entry 3")
    assert(answer.next(7, 4, digest))
    assertEquals(text(answer), "entry 4")
    assert(!answer.next(7, 5, digest))
  }

  test("a response of one entry, to the end of its frame") {
    val answer = of(isBatch = false, head(isBatch = false, 0, 0) ++ entry(3))
    answer.check()
    assert(answer.next(7, 3, digest))
    assertEquals(text(answer), "entry 3")
    assert(!answer.next(7, 4, digest))
  }

  test("a response belongs to the request with its id, or without ids to the one of its entry") {
    def read(id: Long, ledger: Long, first: Long) = new PendingRead(id, ledger, first, first)
    val (many, one) = (batch(entry(3)), of(isBatch = false, head(isBatch = false, 0, 0) ++ entry(3)))
    assertEquals(Seq(read(55, 1, 1), read(56, 7, 3)).map(many.answers), Seq(true, false))
    assertEquals(Seq(read(55, 7, 3), read(55, 8, 3), read(55, 7, 4)).map(one.answers), Seq(true, false, false))
  }

  test("a response to another kind of request, or less than a head, belongs to none") {
    assert(!of(isBatch = true, head(isBatch = false, 0, 0) ++ entry(3)).isFormed)
    assert(!of(isBatch = true, head(isBatch = true, 0, 55).dropRight(1)).isFormed)
    assert(of(isBatch = true, head(isBatch = true, 0, 55)).isFormed)
  }

  for (
    (code, meaning) <- Seq(
      1   -> "that it has no such ledger (1)",
      2   -> "that it has no such entry (2)",
      101 -> "that it could not read its files (101)",
      102 -> "that it has to know who asks (102)",
      106 -> "that it has too many requests (106)",
      999 -> "error 999"
    )
  ) test(s"code $code instead of entries: $meaning") {
    val answer = of(isBatch = true, head(isBatch = true, code, 55))
    assert(!answer.hasEntries)
    failed(s"it says $meaning")(answer.check())
  }

  test("a response without entries is a failure of its bookie") {
    assert(!batch().hasEntries)
    failed("its answer is empty")(batch().check())
  }

  test("an entry whose bytes changed, anywhere behind its size, is not read") {
    val good = entry(3)
    good.indices.foreach { i =>
      val bad = good.clone
      bad(i) = (bad(i) ^ 1).toByte
      failed("the entry's checksum is wrong")(batch(bad).next(7, 3, digest))
    }
  }

  test("another entry than the expected one, or of another ledger, is not read") {
    failed("it returned entry 7:4 instead")(batch(entry(4)).next(7, 3, digest))
    failed("it returned entry 8:3 instead")(batch(entry(3, ledger = 8)).next(7, 3, digest))
  }

  test("sizes that leave the frame, or are less than a head, are malformed") {
    def sized(size: Int) = of(isBatch = true, head(isBatch = true, 0, 55) ++ int(size) ++ entry(3))
    Seq(-1, 0, 35, entry(3).length + 1).foreach(s => failed("its answer is malformed")(sized(s).next(7, 3, digest)))
    val cut = of(isBatch = true, head(isBatch = true, 0, 55) ++ Array[Byte](0, 0, 1))
    failed("its answer is malformed")(cut.next(7, 3, digest))
    failed("its answer is malformed")(of(isBatch = false, head(isBatch = false, 0, 0) ++ entry(3).take(35))
      .next(7, 3, digest))
  }

  test("digests of 4 and of 8 bytes, and types that BookKeeper's own client has to read") {
    val long   = EntryDigest.of("CRC32").get
    val answer = batch(stored(7, 3, "x".getBytes, DigestType.CRC32))
    assert(answer.next(7, 3, long))
    assertEquals((text(answer), digest.bytes, long.bytes), ("x", 4, 8))
    assertEquals(Seq("HMAC", "DUMMY").flatMap(EntryDigest.of), Nil)
  }
}
