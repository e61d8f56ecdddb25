package io.github.pulsarspark.metrics

import io.github.pulsarspark.position.Position

/** The last entry that was read of a topic partition.
  *
  * @param publishTime
  *   in milliseconds since 1970
  */
private[pulsarspark] final case class LastRead(at: Position, publishTime: Long)

private[pulsarspark] object LastRead {

  /** The later one of each topic partition. */
  def later(some: Map[String, LastRead], more: Map[String, LastRead]): Map[String, LastRead] =
    more.foldLeft(some) { case (result, (partition, read)) =>
      if (result.get(partition).exists(_.at > read.at)) result else result.updated(partition, read)
    }
}
