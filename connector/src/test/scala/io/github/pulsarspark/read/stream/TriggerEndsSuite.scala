package io.github.pulsarspark.read.stream

import scala.concurrent.duration._

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.position.{OffsetRange, Position}
import io.github.pulsarspark.read.stream.limits.{FakeEntries, TriggerBudget}
import io.github.pulsarspark.storage.segment.WholeLedger

/** Whole ledgers first, and a count of messages for what is left of the limit. */
class TriggerEndsSuite extends UnitSuite {

  private val size = FakeEntries.bytes(1)

  private val entries: Map[String, Seq[(Position, Int)]] = Map(
    "stored" -> Seq.tabulate(10)(i => Position(10, i.toLong) -> 1).appended(Position(11, 0) -> 1),
    "tail"   -> Seq.tabulate(30)(i => Position(20, i.toLong) -> 1)
  )

  private def ends(budget: TriggerBudget, listed: Boolean = true): (Map[String, Position], Seq[String]) = {
    val fake    = new FakeEntries(entries)
    val ledgers =
      if (listed) Map("stored" -> Seq(WholeLedger(10, 10, 10 * size))) else Map.empty[String, Seq[WholeLedger]]
    val ends   = new TriggerEnds(fake.walk(_), (_, _) => ledgers, 1.minute)
    val ranges = Seq(OffsetRange("stored", Position(10, -1), Position(11, 0)),
      OffsetRange("tail", Position(20, -1), Position(20, 29)))
    try (ends.of(ranges, entries.keySet, budget), fake.opened.map(_.topic).toSeq.sorted.distinct)
    finally {
      ends.close()
      assertEquals((fake.closed.size, fake.leaked), (fake.opened.size, 0), "every walk is closed")
    }
  }

  test("a limit of bytes: a ledger that fits is taken whole, the rest of the limit counts for other partitions") {
    assertEquals(ends(TriggerBudget(bytes = Some(24 * size)))._1,
      Map("stored" -> Position(10, 9), "tail" -> Position(20, 13)))
  }

  test("a limit of messages: every partition is counted, whatever its ledgers are") {
    val (found, walked) = ends(TriggerBudget(rows = Some(6)))
    assertEquals(found, Map("stored" -> Position(10, 2), "tail" -> Position(20, 2)))
    assertEquals(walked, Seq("stored", "tail"))
  }

  test("without a list of ledgers, a limit of bytes is counted") {
    assertEquals(ends(TriggerBudget(bytes = Some(6 * size)), listed = false)._1,
      Map("stored" -> Position(10, 2), "tail" -> Position(20, 2)))
  }
}
