package io.github.pulsarspark.position

/** Start or end of a read as the user set it. The driver resolves it to positions once. */
sealed trait PositionSpec

object PositionSpec {

  /** The place before the first message of the topic. */
  case object Earliest extends PositionSpec

  /** The place after the last message of the topic. */
  case object Latest extends PositionSpec

  /** A place that a position names. */
  sealed trait AtMessage extends PositionSpec {
    def position: Position

    /** The last position before the place. */
    def passed: Position
  }

  /** The place before this message: a start reads it first. */
  final case class From(position: Position) extends AtMessage {
    override def passed: Position = position.preceding
  }

  /** The place after this message: a start skips it, an end includes it. */
  final case class After(position: Position) extends AtMessage {
    override def passed: Position = position
  }

  /** The place before the first message published at this time or later, in milliseconds since 1970. */
  final case class AtTime(millis: Long) extends PositionSpec

  /** The place before the newest messages of a topic partition up to the end of the read: so many of them, or all. */
  final case class Newest(messages: Int) extends PositionSpec
}
