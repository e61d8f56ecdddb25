package io.github.pulsarspark.read.stream.lag

import io.github.pulsarspark.position.{PartitionBounds, PulsarOffset}
import io.github.pulsarspark.storage.StreamStorage

/** Remembers the results of a trigger, so that the progress of the query can report the backlog without any request.
  *
  * @param storage
  *   for backlogs over several ledgers; without it their size is not known
  */
private[stream] final class StreamLag(isCompacted: Boolean, storage: => Option[StreamStorage]) {

  private lazy val ledgers = storage.filterNot(_ => isCompacted)
  private lazy val lookup  = ledgers.map(known => new LedgerEntriesLookup(known.list))

  private var bounds: Option[Map[String, PartitionBounds]] = None

  /** A trigger found these bounds, and its micro-batch ends there. */
  def update(end: PulsarOffset, bounds: Map[String, PartitionBounds]): Unit = {
    this.bounds = Some(bounds)
    val backlog = of(end, bounds)
    ledgers.foreach(_.keepLists(backlog.behind.map(_.partition).toSet))
    lookup.foreach(_.update(backlog))
  }

  /** Backlog after the end of a micro-batch, by the bounds of the last trigger; None before the first one. */
  def after(end: PulsarOffset): Option[Backlog] = bounds.map(of(end, _))

  private def of(read: PulsarOffset, bounds: Map[String, PartitionBounds]): Backlog =
    Backlog.of(read, bounds, isCompacted,
      (partition, from, to) => ledgers.flatMap(_.entriesBetween(partition, from, to)))
}
