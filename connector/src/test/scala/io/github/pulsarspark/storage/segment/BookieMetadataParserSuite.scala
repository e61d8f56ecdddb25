package io.github.pulsarspark.storage.segment

import org.scalacheck.Gen
import org.scalacheck.Prop._

import io.github.pulsarspark.PropertySuite

class BookieMetadataParserSuite extends PropertySuite {

  private def parse(text: String) = new BookieMetadataParser().parse(text)

  private val custom =
    "customMetadata={pulsar/managed-ledger=base64:cHVibGljL2RlZmF1bHQvcGVyc2lzdGVudC90, component=base64:bWFuYWdlZC1sZWRnZXI=, application=base64:cHVsc2Fy}"

  private def text(
      ensembles: String,
      sizes: String = "ensembleSize=2, writeQuorumSize=2, ackQuorumSize=2",
      tail: String = s", $custom"
  ) =
    s"LedgerMetadata{formatVersion=3, $sizes, state=CLOSED, length=358, lastEntryId=5, digestType=CRC32C, password=OMITTED, ensembles={$ensembles}$tail}"

  test("text of a broker on a closed ledger, its copies and their bookies") {
    val expected =
      BookieLocation(3, 2, 2, 2, "CRC32C", Seq(0L -> Seq("b1:3181", "b2:3181")), Some("public/default/persistent/t"))
    assertEquals(parse(text("0=[b1:3181, b2:3181]")), Right(expected))
  }

  test("several ensembles, in any order of the custom metadata, or without it") {
    val parsed = parse(text("0=[b1:1, b2:1], 245=[b1:1, b3:1]", tail = "")).toOption.get
    assertEquals(parsed.ensembles, Seq(0L -> Seq("b1:1", "b2:1"), 245L -> Seq("b1:1", "b3:1")))
    assertEquals(parsed.managedLedger, None)
    assertEquals(parsed.bookies, Seq("b1:1", "b2:1", "b3:1"))
    assertEquals(Seq(0L, 244L).map(parsed.ensembleOf), Seq.fill(2)((Seq("b1:1", "b2:1"), Some(245L))))
    assertEquals(Seq(245L, 9999L).map(parsed.ensembleOf), Seq.fill(2)((Seq("b1:1", "b3:1"), None)))
    val open = text("0=[b1:1, b2:1]").replace("state=CLOSED, length=358, lastEntryId=5", "state=OPEN, length=0")
    assert(parse(open).isRight)
  }

  test("the machine of a bookie is in its id, if that is an address") {
    assertEquals(
      Seq("b1.example:3181", "10.0.0.1:3181", "[::1]:3181", "bookie-7").map(BookieLocation.hostOf),
      Seq("b1.example", "10.0.0.1", "[::1]", "bookie-7")
    )
  }

  test("text of another form, refused") {
    Seq(
      "",
      "LedgerMetadata{}",
      text("0=[b1:1, b2:1]").replace("digestType=CRC32C, ", ""),
      text("0=[b1:1, b2:1]").replace("formatVersion=3", "formatVersion=three"),
      text("0=[b1:1, b2:1], nonsense"),
      text("0=[b1:1, b2:1] 5=[b1:1, b2:1]"),
      text("0=[b1:1]"),
      text("1=[b1:1, b2:1]"),
      text(""),
      text("0=[b1:1, b2:1]", "ensembleSize=2, writeQuorumSize=3, ackQuorumSize=2"),
      text("0=[b1:1, b2:1]", "ensembleSize=2, writeQuorumSize=2, ackQuorumSize=0")
    ).foreach(t => assert(parse(t).left.exists(_.contains("its ")), t))
  }

  private def sized(text: String, length: Long, last: Long) =
    text.replace("length=358, lastEntryId=5", s"length=$length, lastEntryId=$last")

  test("ledgers that differ in nothing but their sizes, one location in memory") {
    val parser = new BookieMetadataParser
    val here   = text("0=[b1:3181, b2:3181]")
    val both   = Seq(sized(here, 1, 0), sized(here, 98765, 432)).map(parser.parse)
    assert(both.head.isRight && (both.head eq both.last), both)
    assertNotEquals(parser.parse(text("0=[b1:3181, b3:3181]")), both.head)
  }

  /** Texts that are like each other, sound or not: some characters of a text are those of others. */
  private val texts = {
    val whole  = text("0=[b1:1, b2:1]")
    val pieces =
      Gen.oneOf(", length=", ", lastEntryId=", "length=3, lastEntryId=4", ", ensembles={", "7", "}", ", ", "digest")
    val broken = for {
      from  <- Gen.choose(0, whole.length)
      to    <- Gen.choose(from, math.min(whole.length, from + 12))
      piece <- Gen.oneOf(Gen.const(""), pieces)
    } yield whole.take(from) + piece + whole.drop(to)
    val sizes = Gen.zip(Gen.choose(0L, 999L), Gen.choose(-1L, 99L)).map { case (length, last) =>
      sized(whole, length, last)
    }
    Gen.listOf(Gen.oneOf(broken, sizes, Gen.const(text("0=[b1:1, b3:1]"))))
  }

  property("a text has the same result, whatever texts were parsed before") {
    forAll(texts) { all =>
      val parser = new BookieMetadataParser
      all.foreach(t => assertEquals(parser.parse(t), parse(t)))
    }
  }
}
