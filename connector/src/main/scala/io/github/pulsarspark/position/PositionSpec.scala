package io.github.pulsarspark.position

/** Where a read starts or ends, as the user set it. The driver resolves it to positions once. */
sealed trait PositionSpec

object PositionSpec {

  /** Before the first message of the topic. */
  case object Earliest extends PositionSpec

  /** After the last message of the topic. */
  case object Latest extends PositionSpec

  /** A place that a position names. */
  sealed trait AtMessage extends PositionSpec {
    def position: Position

    /** The last position before the place. */
    def passed: Position
  }

  /** Before this message: a start reads it first. */
  final case class From(position: Position) extends AtMessage {
    override def passed: Position = position.preceding
  }

  /** After this message: a start skips it, an end includes it. */
  final case class After(position: Position) extends AtMessage {
    override def passed: Position = position
  }

  /** Before the first message published at this time or later, in milliseconds since 1970. */
  final case class AtTime(millis: Long) extends PositionSpec
}
