package io.github.pulsarspark.read.stream.lag

import java.util.concurrent.CompletableFuture

import io.github.pulsarspark.position.{PartitionBounds, PulsarOffset}
import io.github.pulsarspark.pulsar.admin.AdminApi

/** Remembers the results of a trigger, so that the progress of the query can report the backlog without any request.
  *
  * @param admin
  *   for backlogs over several ledgers; without it their size is not known
  */
private[stream] final class StreamLag(isCompacted: Boolean, admin: => Option[AdminApi]) {

  private lazy val ledgers = admin.filterNot(_ => isCompacted).map(a => new LedgerEntriesLookup(listed(a)))

  private var bounds: Option[Map[String, PartitionBounds]] = None

  /** A trigger found these bounds, and its micro-batch ends there. */
  def update(end: PulsarOffset, bounds: Map[String, PartitionBounds]): Unit = {
    this.bounds = Some(bounds)
    ledgers.foreach(_.update(of(end, bounds)))
  }

  /** Backlog after the end of a micro-batch, by the bounds of the last trigger; None before the first one. */
  def after(end: PulsarOffset): Option[Backlog] = bounds.map(of(end, _))

  private def of(read: PulsarOffset, bounds: Map[String, PartitionBounds]): Backlog =
    Backlog.of(read, bounds, isCompacted, partition => ledgers.fold(LedgerEntries.Unknown)(_.of(partition)))

  private def listed(admin: AdminApi)(partition: String, from: Long): CompletableFuture[LedgerEntries] =
    admin.internalStats(partition, withMetadata = false)(new LedgerEntries.Reader(from))
}
