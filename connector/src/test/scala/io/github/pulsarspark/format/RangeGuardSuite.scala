package io.github.pulsarspark.format

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.position.{OffsetRange, Position}

class RangeGuardSuite extends UnitSuite {

  private def guard(start: Position, end: Position) = new RangeGuard(OffsetRange("t", start, end))

  test("an entry is admitted after the one read last, up to the end of the range") {
    val g = guard(Position(5, 3), Position(7, 2))
    Seq(Position(5, 4), Position(5, 900), Position(6, 0), Position(7, 0), Position(7, 2)).foreach(e =>
      assert(g.admits(e, Position(5, 3)), e)
    )
    Seq(Position(5, 3), Position(5, 2), Position(4, 99), Position(0, 0), Position(7, 3), Position(8, 0)).foreach { e =>
      assert(!g.admits(e, Position(5, 3)), e)
    }
    assertEquals(g.rejected, 6L)
  }

  test("repeated and disordered entries are rejected") {
    val g = guard(Position(5, -1), Position(5, 9))
    assert(g.admits(Position(5, 0), Position(5, -1)))
    assert(!g.admits(Position(5, 0), Position(5, 0)))
    assert(g.admits(Position(5, 4), Position(5, 0)))
    assert(!g.admits(Position(5, 2), Position(5, 4)))
    assertEquals(g.rejected, 2L)
  }

  test("a range that begins or ends within an entry includes it") {
    val g = guard(Position(5, 3, 1), Position(7, 2, 4))
    assert(g.admits(Position(5, 3), Position(5, 3, 1)))
    assert(g.admits(Position(7, 2), Position(5, 3)))
    assert(!g.admits(Position(7, 3), Position(7, 2)))
  }

  test("an entry that is left to another source is admitted again") {
    val g = guard(Position(5, -1), Position(5, 9))
    assert(g.admits(Position(5, 0), Position(5, -1)))
    assert(g.admits(Position(5, 0), Position(5, -1)))
    assertEquals(g.rejected, 0L)
  }
}
