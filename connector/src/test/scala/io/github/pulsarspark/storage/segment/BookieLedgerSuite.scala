package io.github.pulsarspark.storage.segment

import io.github.pulsarspark.UnitSuite

class BookieLedgerSuite extends UnitSuite {

  private def parse(id: Long, text: String) = new BookieLedgerParser().parse(id, text)

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
      BookieLedger(8, 3, 2, 2, 2, "CRC32C", Seq(0L -> Seq("b1:3181", "b2:3181")), Some("public/default/persistent/t"))
    assertEquals(parse(8, text("0=[b1:3181, b2:3181]")), Right(expected))
  }

  test("several ensembles, in any order of the custom metadata, or without it") {
    val parsed = parse(8, text("0=[b1:1, b2:1], 245=[b1:1, b3:1]", tail = "")).toOption.get
    assertEquals(parsed.ensembles, Seq(0L -> Seq("b1:1", "b2:1"), 245L -> Seq("b1:1", "b3:1")))
    assertEquals(parsed.managedLedger, None)
    assertEquals(parsed.bookies, Seq("b1:1", "b2:1", "b3:1"))
    assertEquals(Seq(0L, 244L).map(parsed.ensembleOf), Seq.fill(2)((Seq("b1:1", "b2:1"), Some(245L))))
    assertEquals(Seq(245L, 9999L).map(parsed.ensembleOf), Seq.fill(2)((Seq("b1:1", "b3:1"), None)))
    val open = text("0=[b1:1, b2:1]").replace("state=CLOSED, length=358, lastEntryId=5", "state=OPEN, length=0")
    assert(parse(8, open).isRight)
  }

  test("the machine of a bookie is in its id, if that is an address") {
    assertEquals(
      Seq("b1.example:3181", "10.0.0.1:3181", "[::1]:3181", "bookie-7").map(BookieLedger.hostOf),
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
    ).foreach(t => assert(parse(8, t).left.exists(_.contains("its ")), t))
  }

  test("ledgers on the same bookies, one list in memory") {
    val parser           = new BookieLedgerParser
    def parsed(id: Long) = parser.parse(id, text("0=[b1:3181, b2:3181]")).toOption.get
    val (one, two)       = (parsed(8), parsed(9))
    assert((one.ensembles eq two.ensembles) && (one.managedLedger eq two.managedLedger))
  }
}
