package io.github.pulsarspark.position

/** A message that a topic partition has at a position. Ids of ledgers mean nothing in another cluster, so a mark shows
  * whether positions belong to the cluster in which they are used. It needs no right but that to read, and it holds as
  * long as the message does, whatever the cluster is called.
  *
  * @param position
  *   of the entry
  * @param publishTime
  *   milliseconds since 1970
  * @param digest
  *   of what else the entry says of its origin
  */
final case class PositionMark(position: Position, publishTime: Long, digest: String) {

  /** `12:34 1732780000123 9f3c2a1b` */
  override def toString: String = s"$position $publishTime $digest"
}

object PositionMark {
  private val text = raw"(\S+) (\d{1,19}) ([0-9a-f]{1,16})".r

  /** Reads the text of a mark; None for anything else. */
  def parse(s: String): Option[PositionMark] = s match {
    case text(position, time, digest) =>
      for {
        p <- Position.parse(position)
        t <- time.toLongOption
      } yield PositionMark(p, t, digest)
    case _ => None
  }
}
