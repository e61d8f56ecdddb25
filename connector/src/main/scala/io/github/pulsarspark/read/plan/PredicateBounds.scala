package io.github.pulsarspark.read.plan

import io.github.pulsarspark.position.{Interval, PruningBounds}

/** Conservative bounds on the messages of one topic partition for which a predicate may be TRUE and may be FALSE
  * (three-valued logic).
  */
private[read] final case class PredicateBounds(whenTrue: PruningBounds, whenFalse: PruningBounds) {
  def and(that: PredicateBounds): PredicateBounds =
    PredicateBounds(whenTrue.intersect(that.whenTrue), whenFalse.around(that.whenFalse))
  def or(that: PredicateBounds): PredicateBounds =
    PredicateBounds(whenTrue.around(that.whenTrue), whenFalse.intersect(that.whenFalse))
  def not: PredicateBounds = PredicateBounds(whenFalse, whenTrue)
}

private[read] object PredicateBounds {
  import PruningBounds.{Everything, Nothing}

  val Unknown: PredicateBounds = PredicateBounds(Everything, Everything)
  val True: PredicateBounds    = PredicateBounds(Everything, Nothing)
  val False: PredicateBounds   = PredicateBounds(Nothing, Everything)

  /** Bounds of SQL's NULL, which is neither true nor false. */
  val Null: PredicateBounds = PredicateBounds(Nothing, Nothing)

  def of(value: Boolean): PredicateBounds = if (value) True else False

  /** True for numbers below `end`; `in` turns an interval of numbers into bounds. */
  def below(end: Long, in: Interval => PruningBounds): PredicateBounds =
    PredicateBounds(in(Interval(toExclusive = end)), in(Interval(fromInclusive = end)))

  /** True only within these bounds, perhaps not for all of them. */
  def within(bounds: PruningBounds): PredicateBounds = PredicateBounds(bounds, Everything)
}
