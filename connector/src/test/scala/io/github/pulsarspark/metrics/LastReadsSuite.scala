package io.github.pulsarspark.metrics

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.position.Position

class LastReadsSuite extends UnitSuite {

  test("tasks of a partition may end in any order: the later position counts") {
    val total = new LastReads
    assert(total.isZero)
    val later   = Map("p" -> LastRead(Position(2, 0), 10), "q" -> LastRead(Position(1, 0), 1))
    val earlier = Map("p" -> LastRead(Position(1, 9), 20))
    Seq(later, earlier).foreach(total.add)
    val other = new LastReads
    other.merge(total.copy())
    other.add(earlier)
    assertEquals(other.value, later)
    other.reset()
    assert(other.isZero)
  }
}
