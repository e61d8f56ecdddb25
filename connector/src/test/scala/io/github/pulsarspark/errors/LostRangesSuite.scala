package io.github.pulsarspark.errors

import io.github.pulsarspark.UnitSuite

class LostRangesSuite extends UnitSuite {

  private def trimmed(from: String) =
    Conditions.DataLossTrimmed(topic = "t", from = from, to = "9:9", reason = "trimmed")

  private def many(count: Int) = (1 to count).foldLeft(LostRanges.none)((all, n) => all + trimmed(s"1:$n"))

  test("all are counted, and the newest are kept") {
    val lost = many(LostRanges.MaxKept + 5)
    assertEquals(lost.count, LostRanges.MaxKept + 5L)
    assertEquals(lost.newest.map(_.parameters("from")), (6 to LostRanges.MaxKept + 5).map(n => s"1:$n"))
  }

  test("those after the ones that are known") {
    assertEquals(many(5).after(3).newest.map(_.parameters("from")), Seq("1:4", "1:5"))
    assertEquals(many(5).after(5), LostRanges.none)
    assertEquals(many(LostRanges.MaxKept + 5).after(2).count, LostRanges.MaxKept + 3L)
  }
}
