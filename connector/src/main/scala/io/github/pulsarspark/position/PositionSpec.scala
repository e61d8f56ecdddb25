package io.github.pulsarspark.position

/** Where a read should start or end, as asked for; what it means in a topic is found out once, on the driver. */
sealed trait PositionSpec

object PositionSpec {

  /** Before the first message there is. */
  case object Earliest extends PositionSpec

  /** After the last message there is. */
  case object Latest extends PositionSpec

  /** After this message: it counts as read by a start, and is the last one read by an end. */
  final case class After(position: Position) extends PositionSpec

  /** Before the first message published at this time or later, in milliseconds since 1970. */
  final case class AtTime(millis: Long) extends PositionSpec
}
