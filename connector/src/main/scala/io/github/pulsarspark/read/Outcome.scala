package io.github.pulsarspark.read

import io.github.pulsarspark.offsets.{Interval, Wanted}

/** For which messages of one topic partition a condition may be true, and for which it may be false. Outside the first it is certain that it is not true. By
  * SQL's logic it can be neither, and as far as is known here it may be both.
  */
private[read] final case class Outcome(whenTrue: Wanted, whenFalse: Wanted) {
  def and(that: Outcome): Outcome = Outcome(whenTrue.intersect(that.whenTrue), whenFalse.around(that.whenFalse))
  def or(that: Outcome): Outcome  = Outcome(whenTrue.around(that.whenTrue), whenFalse.intersect(that.whenFalse))
  def not: Outcome                = Outcome(whenFalse, whenTrue)
}

private[read] object Outcome {
  import Wanted.{Everything, Nothing}

  val Unknown: Outcome = Outcome(Everything, Everything)
  val True: Outcome    = Outcome(Everything, Nothing)
  val False: Outcome   = Outcome(Nothing, Everything)

  /** Neither true nor false. */
  val Null: Outcome = Outcome(Nothing, Nothing)

  def of(holds: Boolean): Outcome = if (holds) True else False

  /** True for numbers below `end`, of which `in` makes what is wanted. */
  def below(end: Long, in: Interval => Wanted): Outcome = Outcome(in(Interval(toExclusive = end)), in(Interval(fromInclusive = end)))

  /** True only within this, but perhaps not for all of it. */
  def within(wanted: Wanted): Outcome = Outcome(wanted, Everything)
}
