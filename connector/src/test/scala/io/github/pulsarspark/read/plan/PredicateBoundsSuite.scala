package io.github.pulsarspark.read.plan

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.position.{Interval, PruningBounds}
import io.github.pulsarspark.read.plan.PredicateBounds._

/** Three-valued logic over bounds, which may only ever be too wide. */
class PredicateBoundsSuite extends UnitSuite {

  private val all = Seq("true" -> True, "false" -> False, "null" -> Null, "unknown" -> Unknown)

  private def in(times: Interval) = PruningBounds(times = times)
  private val before5             = below(5, in)
  private val from3               = below(3, in).not

  /** True if a predicate may be true, and if it may be false. */
  private def may(p: PredicateBounds) = (!p.whenTrue.isEmpty, !p.whenFalse.isEmpty)

  for ((a, left) <- all; (b, right) <- all) test(s"$a and $b, $a or $b, as in SQL") {
    val ((t1, f1), (t2, f2)) = (may(left), may(right))
    assertEquals(may(left.and(right)), (t1 && t2, f1 || f2))
    assertEquals(may(left.or(right)), (t1 || t2, f1 && f2))
    assertEquals(may(left.not), (f1, t1))
  }

  test("a number below an end: bounds on both sides of it") {
    assertEquals((before5.whenTrue.times, before5.whenFalse.times),
      (Interval(toExclusive = 5), Interval(fromInclusive = 5)))
    assertEquals(from3.and(before5).whenTrue.times, Interval(3, 5))
    assertEquals(from3.and(before5).not.whenTrue.times, Interval.Always, "the gap between two intervals is kept")
    assertEquals(below(3, in).or(before5).whenTrue.times, Interval(toExclusive = 5))
  }

  test("a predicate that is true within bounds may be false anywhere") {
    val p = within(in(Interval(1, 2)))
    assertEquals((p.whenTrue.times, p.whenFalse), (Interval(1, 2), PruningBounds.Everything))
    assertEquals(Seq(true, false).map(PredicateBounds.of), Seq(True, False))
  }
}
