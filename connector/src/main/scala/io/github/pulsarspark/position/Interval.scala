package io.github.pulsarspark.position

/** A range of whole numbers, such as publish times in milliseconds since 1970. No interval contains `Long.MaxValue`. */
final case class Interval(fromInclusive: Long = Long.MinValue, toExclusive: Long = Long.MaxValue) {
  def contains(number: Long): Boolean = number >= fromInclusive && number < toExclusive

  def isEmpty: Boolean = toExclusive <= fromInclusive

  /** The numbers in both. */
  def intersect(that: Interval): Interval =
    Interval(math.max(fromInclusive, that.fromInclusive), math.min(toExclusive, that.toExclusive))

  /** The narrowest one around both. */
  def around(that: Interval): Interval =
    if (isEmpty) that
    else if (that.isEmpty) this
    else Interval(math.min(fromInclusive, that.fromInclusive), math.max(toExclusive, that.toExclusive))
}

object Interval {
  val Always: Interval = Interval()
  val Never: Interval  = Interval(0, 0)
}
