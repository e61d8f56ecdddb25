package io.github.pulsarspark.read

import io.github.pulsarspark.offsets.TimeBounds

/** At which publish times a condition may be true for messages of one topic partition, and at which it may be false. Outside the first it is certain that it is
  * not true. By SQL's logic it can be neither, and as far as is known here it may be both.
  */
private[read] final case class Outcome(whenTrue: TimeBounds, whenFalse: TimeBounds) {
  def and(that: Outcome): Outcome = Outcome(whenTrue.intersect(that.whenTrue), whenFalse.around(that.whenFalse))
  def or(that: Outcome): Outcome  = Outcome(whenTrue.around(that.whenTrue), whenFalse.intersect(that.whenFalse))
  def not: Outcome                = Outcome(whenFalse, whenTrue)
}

private[read] object Outcome {
  import TimeBounds.{Always, Never}

  val Unknown: Outcome = Outcome(Always, Always)
  val True: Outcome    = Outcome(Always, Never)
  val False: Outcome   = Outcome(Never, Always)

  /** Neither true nor false. */
  val Null: Outcome = Outcome(Never, Never)

  def of(holds: Boolean): Outcome = if (holds) True else False

  /** True for what was published before a time in milliseconds. */
  def before(millis: Long): Outcome = Outcome(TimeBounds(toExclusive = millis), TimeBounds(fromInclusive = millis))

  /** True only within these times, but perhaps not for all of them. */
  def within(times: TimeBounds): Outcome = Outcome(times, Always)
}
