package io.github.pulsarspark.position

/** Messages of one topic partition after `startExclusive`, up to and including `endInclusive`.
  *
  * @param topic
  *   full name of a partition, or of a topic that is not partitioned
  */
final case class OffsetRange(topic: String, startExclusive: Position, endInclusive: Position) {
  def isEmpty: Boolean = endInclusive <= startExclusive

  override def toString: String = s"$topic ($startExclusive, $endInclusive]"
}
