package io.github.pulsarspark.read.stream.lag

import java.util.concurrent.{CompletableFuture, Executor, ForkJoinPool}
import java.util.concurrent.atomic.AtomicInteger

import scala.concurrent.duration._

import org.slf4j.LoggerFactory

import io.github.pulsarspark.common.Recently
import io.github.pulsarspark.position.{PartitionBounds, PulsarOffset}
import io.github.pulsarspark.storage.StreamStorage

/** Remembers the results of a trigger, so that the progress of the query can report the backlog without any request.
  *
  * @param storage
  *   for backlogs over several ledgers, unless those are of the compacted view; without it their size is not known
  */
private[stream] final class StreamLag(isCompacted: Boolean, storage: => Option[StreamStorage]) {

  private lazy val ledgers = if (isCompacted) None else storage
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

/** Requests the lists of ledgers that the size of a backlog needs, and never waits for them: a response serves later
  * calls.
  *
  * @param list
  *   requests the list of a topic partition from a ledger on, and keeps it
  * @param nanos
  *   the clock
  * @param threads
  *   run `list`, which may wait for credentials
  */
private[lag] final class LedgerEntriesLookup(
    list: (String, Long) => CompletableFuture[Unit],
    nanos: () => Long = () => System.nanoTime(),
    threads: Executor = ForkJoinPool.commonPool
) {
  import LedgerEntriesLookup._

  private val requested = new Recently[String](Pause, nanos)
  private val underWay  = new AtomicInteger

  /** Requests what the size of this backlog lacks: each partition at most once in [[Pause]], a limited number at a
    * time.
    */
  def update(backlog: Backlog): Unit =
    backlog.behind.filter(p => p.entries.isEmpty && !requested.contains(p.partition))
      .take(MaxAtOnce - underWay.get).foreach { p =>
        requested.add(p.partition)
        underWay.incrementAndGet()
        CompletableFuture.supplyAsync(() => list(p.partition, p.from.ledgerId), threads)
          .thenCompose[Unit](listing => listing).whenComplete { (_, failure) =>
            underWay.decrementAndGet()
            if (failure != null)
              log.debug("the ledgers of {} are not known: {}", p.partition, failure.toString: Any)
          }
      }
}

private[lag] object LedgerEntriesLookup {
  private val log = LoggerFactory.getLogger(classOf[LedgerEntriesLookup])

  val Pause: FiniteDuration = 10.seconds

  private val MaxAtOnce = 16
}
