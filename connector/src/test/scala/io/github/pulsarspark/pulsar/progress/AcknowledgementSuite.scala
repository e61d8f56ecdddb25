package io.github.pulsarspark.pulsar.progress

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.position.{OffsetRange, Position}

class AcknowledgementSuite extends UnitSuite {

  private def at(text: String): Position = Position.parse(text).get

  /** Cases: the position that was read, true if more is read now, the acknowledged position. */
  private val acknowledged = Seq(
    ("5:9", false, "5:9"),
    ("5:9", true, "5:8"),
    ("5:0", true, "5:-1"),
    ("5:9:3", false, "5:8"),
    ("5:9:3", true, "5:8"),
    ("5:0:0", false, "5:-1"),
    ("5:-1", false, "5:-1"),
    ("5:-1", true, "5:-1")
  )

  acknowledged.foreach { case (read, isReadOn, expected) =>
    test(s"after $read, ${if (isReadOn) "read on" else "at a standstill"}, $expected is acknowledged") {
      assertEquals(Acknowledgement.of(at(read), isReadOn), at(expected))
    }
  }

  /** Cursor, place of a reader, the first entry that arrived, where the range from 5:9 to 7:4 starts. */
  private val starts = Seq(
    ("the ledger of the start is gone, and the broker moved the cursor", "7:-1", Some("7:-1"), None, "7:-1"),
    ("the ledger of the start is gone, and the cursor stays", "5:9", Some("7:-1"), None, "7:-1"),
    ("the ledger of the start is there", "5:9", Some("5:8"), None, "5:9"),
    ("the broker moved the cursor, and the ledger of the start is there", "7:-1", Some("5:8"), None, "5:9"),
    ("the cursor is far ahead of what is stored", "7:-1", Some("6:-1"), None, "5:9"),
    ("the cursor is behind the start", "5:3", Some("7:-1"), None, "5:9"),
    ("somebody moved the cursor into a ledger", "7:2", Some("7:-1"), None, "5:9"),
    ("the reader is beyond the range", "8:-1", Some("8:-1"), None, "5:9"),
    ("a message arrived that the cursor passed", "7:-1", Some("7:-1"), Some("5:10"), "5:9"),
    ("a message arrived in a ledger that is gone", "5:9", Some("7:-1"), Some("6:0"), "5:9"),
    ("the first message is behind the new start", "7:-1", Some("7:-1"), Some("7:3"), "7:-1"),
    ("there is no reader", "7:-1", None, None, "5:9")
  )

  private val range = OffsetRange("t", at("5:9"), at("7:4"))

  starts.foreach { case (what, cursor, reader, first, expected) =>
    test(s"$what: the range starts at $expected") {
      assertEquals(Acknowledgement.startOf(range, at(cursor), reader.map(at), first.map(at)), at(expected))
    }
  }

  test("the first message that arrived begins a ledger: the range does, too, without a request") {
    def before(first: String) = Acknowledgement.startBefore(range, Some(at(first)))
    assertEquals(before("7:0"), Some(at("7:-1")))
    assertEquals(before("6:0"), Some(at("6:-1")))
    assertEquals(Seq("5:10", "7:1", "8:0", "5:0").map(before), Seq.fill(4)(None))
    assertEquals(Acknowledgement.startBefore(range, None), None)
  }
}
