package io.github.pulsarspark.position

import io.github.pulsarspark.UnitSuite

/** First entries and numbers of entries of ranges. */
class OffsetRangeSuite extends UnitSuite {

  private def range(start: Position, end: Position) = OffsetRange("t", start, end)

  test("a start at a whole entry or at the begin of a ledger: the entries after it") {
    assertEquals(range(Position(3, 4), Position(3, 9)).entries, Some(5L))
    assertEquals(range(Position(3, -1), Position(3, 9)).entries, Some(10L))
    assertEquals(range(Position(3, 4), Position(3, 9)).firstEntry(3), 5L)
  }

  test("a start inside a batch: its entry is the first one") {
    assertEquals(range(Position(3, 4, 0), Position(3, 9)).entries, Some(6L))
    assertEquals(range(Position(3, 4, 0), Position(3, 4, 2)).entries, Some(1L))
    assertEquals(range(Position(3, 4, 0), Position(3, 9)).firstEntry(3), 4L)
  }

  test("several ledgers: the number is not known, later ones begin with their first entry") {
    val several = range(Position(3, 4), Position(5, 9))
    assertEquals(several.entries, None)
    assertEquals((several.firstEntry(3), several.firstEntry(4), several.firstEntry(5)), (5L, 0L, 0L))
  }
}
