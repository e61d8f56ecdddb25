package io.github.pulsarspark.read

import scala.collection.immutable.SortedMap

import io.github.pulsarspark.errors.DataLossPolicy
import io.github.pulsarspark.offsets.{PartitionBounds, PulsarOffset}

/** Where the next micro-batch ends. Pure, but for reporting data that is gone. */
private[read] object StreamProgress {

  /** Everything there is now, in each partition that exists now.
    *
    * @param read
    *   what the stream has read
    * @param bounds
    *   what the partitions that exist now hold
    * @return
    *   `read` itself when there is nothing new
    */
  def next(read: PulsarOffset, bounds: Map[String, PartitionBounds], losses: DataLossPolicy): PulsarOffset = {
    read.positions.foreach { case (partition, position) =>
      bounds.get(partition) match {
        case None                         => losses.report(partition, position.toString, "its end", "the topic or partition was deleted")
        case Some(b) if b.last < position =>
          losses.report(
            partition,
            position.toString,
            "its end",
            s"the topic now ends at ${b.last}: it was deleted and created again, or belongs to another cluster"
          )
        case _ => ()
      }
    }
    val positions = SortedMap.from(bounds.view.mapValues(_.last))
    val added = SortedMap.from(bounds.view.filter { case (p, b) => read.positions.get(p).forall(b.emptyAfter.contains) }.mapValues(_.first))
    if (positions == read.positions) read else PulsarOffset(positions, added)
  }

  /** No further than `limit`, and only the partitions it knows. */
  def within(limit: PulsarOffset, offset: PulsarOffset): PulsarOffset =
    PulsarOffset(
      offset.positions.collect { case (p, position) if limit.positions.contains(p) => p -> Seq(position, limit.positions(p)).min },
      offset.added.filter { case (p, _) => limit.positions.contains(p) }
    )
}
