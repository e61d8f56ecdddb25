package io.github.pulsarspark.metrics

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.errors.{Conditions, LostRanges}

class LostRangesTotalSuite extends UnitSuite {

  private def lost(from: String) =
    LostRanges.none + Conditions.DataLossTrimmed(topic = "t", from = from, to = "9:9", reason = "trimmed")

  test("a task that runs again finds nothing new") {
    val total = new LostRangesTotal
    Seq("1:1", "1:2", "1:1").foreach(from => total.add(lost(from)))
    assertEquals(total.value.count, 2L)
    val copy = total.copy()
    copy.merge(total)
    assertEquals(copy.value, total.value)
  }

  test("what a task found is reported once, by the accumulator of the driver alone") {
    var found = 0
    val total = new LostRangesTotal(() => found += 1)
    val task  = total.copy()
    task.add(lost("1:1"))
    assertEquals(found, 0)
    Seq(1, 2).foreach(_ => total.merge(task))
    assertEquals((found, total.value.count), (1, 1L))
  }
}
