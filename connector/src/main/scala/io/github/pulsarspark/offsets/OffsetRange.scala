package io.github.pulsarspark.offsets

/** Messages of one topic partition after `startExclusive`, up to and including `endInclusive`.
  *
  * @param topic
  *   full name of a partition, or of a topic that is not partitioned
  */
final case class OffsetRange(topic: String, startExclusive: Position, endInclusive: Position) {
  def isEmpty: Boolean = endInclusive <= startExclusive

  override def toString: String = s"$topic ($startExclusive, $endInclusive]"
}

/** Messages published at or after `fromInclusive` and before `toExclusive`, in milliseconds since 1970. */
final case class TimeBounds(fromInclusive: Long = Long.MinValue, toExclusive: Long = Long.MaxValue) {
  def contains(publishTime: Long): Boolean = publishTime >= fromInclusive && publishTime < toExclusive

  def isEmpty: Boolean = toExclusive <= fromInclusive

  /** What is within both. */
  def intersect(that: TimeBounds): TimeBounds =
    TimeBounds(math.max(fromInclusive, that.fromInclusive), math.min(toExclusive, that.toExclusive))

  /** The narrowest bounds around both. */
  def around(that: TimeBounds): TimeBounds =
    if (isEmpty) that
    else if (that.isEmpty) this
    else TimeBounds(math.min(fromInclusive, that.fromInclusive), math.max(toExclusive, that.toExclusive))
}

object TimeBounds {
  val Always: TimeBounds = TimeBounds()
  val Never: TimeBounds  = TimeBounds(0, 0)
}
