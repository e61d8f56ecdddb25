package io.github.pulsarspark.storage.segment

import org.scalacheck.Gen
import org.scalacheck.Prop._

import io.github.pulsarspark.PropertySuite
import io.github.pulsarspark.format.Tier
import io.github.pulsarspark.position.{OffsetRange, Position}

class SliceSuite extends PropertySuite {

  private object Here extends SegmentLocation {
    override def level: Tier                     = Tier.Tiered
    override def hosts(entry: Long): Seq[String] = Seq(s"host of $entry")
  }

  private val positions = for {
    ledger <- Gen.choose(0L, Long.MaxValue)
    entry  <- Gen.choose(-1L, Long.MaxValue)
    batch  <- Gen.choose(-1, Int.MaxValue)
  } yield Position(ledger, entry, batch)

  private val ranges = Gen.zip(positions, positions).map { case (start, end) =>
    OffsetRange("t", start, end.copy(ledgerId = start.ledgerId))
  }

  property("a range that is read directly is kept as it was, and its entries are those of the range") {
    forAll(ranges, Gen.choose(0L, Long.MaxValue)) { (range, bytes) =>
      val slice   = Slice.Direct(range, Here, bytes)
      val segment = slice.segment.get
      assertEquals(slice.range, range)
      assertEquals(segment,
        Segment(range.endInclusive.ledgerId, range.startExclusive.firstEntryAfter,
          range.endInclusive.entryId, bytes, Here))
      assertEquals((slice.topic, slice.bytes, slice.level, slice.reason), ("t", bytes, Tier.Tiered, ""))
      assertEquals(slice.hosts, Seq(s"host of ${segment.first}"))
      assertEquals(slice.entries, range.entries)
    }
  }

  test("a range of several ledgers is not read directly; the broker reads it") {
    val range = OffsetRange("t", Position(1, 2), Position(3, 4))
    intercept[IllegalArgumentException](Slice.Direct(range, Here, 1))
    val slice = Slice.ByBroker(range, "it is short")
    assertEquals((slice.range, slice.topic, slice.reason), (range, "t", "it is short"))
    assertEquals((slice.segment, slice.bytes, slice.level, slice.entries), (None, 0L, Tier.Broker, None))
    assertEquals(slice.hosts, Nil)
  }
}
