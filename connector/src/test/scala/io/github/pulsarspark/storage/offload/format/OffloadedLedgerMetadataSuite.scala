package io.github.pulsarspark.storage.offload.format

import com.google.protobuf.ByteString
import org.apache.bookkeeper.proto.DataFormats.LedgerMetadataFormat

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.format.entry.MalformedBytes

class OffloadedLedgerMetadataSuite extends UnitSuite {

  private def stored(last: Option[Long], custom: (String, String)*): Array[Byte] = {
    val result = LedgerMetadataFormat.newBuilder
    last.foreach(result.setLastEntryId)
    custom.foreach { case (key, value) =>
      result.addCustomMetadataBuilder().setKey(key).setValue(ByteString.copyFromUtf8(value))
    }
    result.buildPartial.toByteArray
  }

  private def parse(bytes: Array[Byte]) =
    OffloadedLedgerMetadata.parse(Array[Byte](1) ++ bytes :+ 1.toByte, 1, bytes.length)

  private def malformed(problem: String)(body: => Any): Unit =
    assertEquals(intercept[MalformedBytes](body).getMessage, problem)

  test("the last entry and the owner, of metadata that lacks what BookKeeper requires") {
    assertEquals(parse(stored(Some(9), "a" -> "b", "pulsar/managed-ledger" -> "p/d/t")),
      OffloadedLedgerMetadata(9, Some("p/d/t")))
    assertEquals(parse(stored(Some(0))), OffloadedLedgerMetadata(0, None))
  }

  test("metadata without a last entry, or of a ledger that was never closed, is refused") {
    malformed("its metadata names no last entry")(parse(stored(None)))
    malformed("its metadata names no last entry")(parse(stored(Some(-1))))
    assert(intercept[MalformedBytes](parse(Array[Byte](-1, -1))).getMessage.startsWith("its metadata is not readable"))
  }

  test("a copy of another ledger, or of a part, is refused; one that names no owner is taken") {
    val copy = OffloadedLedgerMetadata(9, Some("mine"))
    copy.check("mine", last = 9)
    copy.copy(managedLedger = None).check("mine", last = 9)
    malformed("it belongs to mine")(copy.check("another", last = 9))
    malformed("it ends with entry 9, before entry 10")(copy.check("mine", last = 10))
  }
}
