package io.github.pulsarspark.read.stream.lag

import java.util.concurrent.{CompletableFuture, Executor, ForkJoinPool}
import java.util.concurrent.atomic.AtomicInteger

import scala.collection.concurrent.TrieMap
import scala.concurrent.duration._

import org.slf4j.LoggerFactory

import io.github.pulsarspark.common.Recently

/** Requests the lists of ledgers that the size of a backlog needs, and never waits for them: a response serves later
  * calls.
  *
  * @param request
  *   the list of a topic partition from a ledger on
  * @param nanos
  *   the clock
  * @param threads
  *   run `request`, which may wait for credentials
  */
private[stream] final class LedgerEntriesLookup(
    request: (String, Long) => CompletableFuture[LedgerEntries],
    nanos: () => Long = () => System.nanoTime(),
    threads: Executor = ForkJoinPool.commonPool
) {
  import LedgerEntriesLookup._

  private val known     = TrieMap.empty[String, LedgerEntries]
  private val requested = new Recently[String](Pause, nanos)
  private val underWay  = new AtomicInteger

  /** Entries of the partition's ledgers, as far as responses have arrived. */
  def of(partition: String): LedgerEntries = known.getOrElse(partition, LedgerEntries.Unknown)

  /** Requests what the size of this backlog lacks: each partition at most once in [[Pause]], a limited number at a
    * time. Forgets partitions that are not behind.
    */
  def update(backlog: Backlog): Unit = {
    val behind = backlog.behind.map(_.partition).toSet
    known.keys.filterNot(behind).foreach(known.remove)
    backlog.behind.filter(p => p.entries.isEmpty && !requested.contains(p.partition))
      .take(MaxAtOnce - underWay.get).foreach { p =>
        requested.add(p.partition)
        underWay.incrementAndGet()
        CompletableFuture.supplyAsync(() => request(p.partition, p.from.ledgerId), threads)
          .thenCompose[LedgerEntries](answer => answer).whenComplete { (listed, failure) =>
            underWay.decrementAndGet()
            if (failure == null) known.put(p.partition, listed)
            else log.debug("the ledgers of {} are not known: {}", p.partition, failure.toString: Any)
          }
      }
  }
}

private[lag] object LedgerEntriesLookup {
  private val log = LoggerFactory.getLogger(classOf[LedgerEntriesLookup])

  val Pause: FiniteDuration = 10.seconds

  private val MaxAtOnce = 16
}
