package io.github.pulsarspark.read.stream.limits

import scala.collection.concurrent.TrieMap
import scala.concurrent.duration.FiniteDuration
import scala.util.control.NonFatal

import org.slf4j.LoggerFactory

import io.github.pulsarspark.common.BlockingParallel
import io.github.pulsarspark.position.{OffsetRange, Position}
import io.github.pulsarspark.storage.segment.WholeLedger

/** Ends the micro-batches of a stream whose only limit is one of bytes at the ends of ledgers, where the list of
  * ledgers has their sizes. A backlog is not read for that, but for the last message of one ledger for each micro-batch
  * and partition.
  *
  * The limit is never exceeded: a ledger that the range begins in counts as a whole, unless nothing is left of it.
  * Partitions of which whole ledgers have less than half of a share are left to [[BacklogWalk]]. For one thread, which
  * may be interrupted.
  *
  * @param listed
  *   consecutive closed ledgers of ranges, from the one in which a range begins; empty if unknown; a list may end after
  *   the given bytes
  * @param open
  *   begins a walk; does not wait
  * @param patience
  *   how long one trigger looks for ends; partitions that it did not get to are walked
  */
private[stream] final class LedgerSteps(
    listed: (Seq[OffsetRange], Long) => Map[String, Seq[WholeLedger]],
    open: OffsetRange => PartitionWalk,
    patience: FiniteDuration
) {
  import LedgerSteps._

  private val threads = new BlockingParallel("pulsar-ledger-ends", Threads)
  private var done    = Map.empty[String, Step] // last step of each partition

  /** Ends of the next micro-batch in those ranges that can be ended at a ledger, each after its start.
    *
    * @param backlog
    *   ranges that are not empty, from what was read to the last message
    */
  def ends(backlog: Seq[OffsetRange], budget: TriggerBudget): Map[String, Step] = {
    val long = backlog.filter(r => r.startExclusive.ledgerId < r.endInclusive.ledgerId)
    (budget.bytes, budget.rows, budget.minimum) match {
      case (Some(bytes), None, None) if long.nonEmpty =>
        val deadline = System.nanoTime() + patience.toNanos
        def isInTime = System.nanoTime() < deadline
        val share    = bytes / backlog.size
        val ledgers  = listed(long, share)
        val found    = TrieMap.empty[String, Step]
        threads.run(long.map { range => () =>
          try
            if (isInTime)
              step(range, ledgers.getOrElse(range.topic, Nil), share, () => isInTime)
                .foreach(found.put(range.topic, _))
          catch {
            case NonFatal(e) => log.info("{}: the end of a ledger cannot be read: {}", range.topic, e.toString: Any)
          }
        })
        done = found.toMap
        done
      case _ => Map.empty
    }
  }

  private def step(
      range: OffsetRange,
      ledgers: Seq[WholeLedger],
      share: Long,
      isInTime: () => Boolean
  ): Option[Step] = {
    val start                         = range.startExclusive
    val passed                        = done.get(range.topic).filter(_.end == start).map(_.ledgerId)
    def isPassed(ledger: WholeLedger) =
      passed.contains(ledger.id) || ledger.id == start.ledgerId && start.firstEntryAfter >= ledger.entries
    val sums = ledgers.filter(_.id < range.endInclusive.ledgerId).scanLeft((0L, 0L)) { case ((_, sum), ledger) =>
      (ledger.id, sum + (if (isPassed(ledger)) behind(start, ledger) else ledger.bytes))
    }
    sums.tail.takeWhile(_._2 <= share).lastOption.filter(_._2 >= math.max(1, share / 2)).flatMap { case (id, bytes) =>
      ledgers.find(_.id == id).flatMap(lastMessage(range, _, isInTime)).map(Step(_, id, bytes))
    }
  }

  /** Estimates the bytes that a range reads of a ledger. Sends no request for the entries before its start. */
  private def behind(start: Position, ledger: WholeLedger): Long =
    if (ledger.id != start.ledgerId) 0
    else ledger.bytes * math.max(0, ledger.entries - start.firstEntryAfter) / math.max(1, ledger.entries)

  /** The last message of a ledger that the broker delivers and that is in the range: later entries may be markers,
    * aborted, or chunks of an incomplete message.
    */
  private def lastMessage(range: OffsetRange, ledger: WholeLedger, isInTime: () => Boolean): Option[Position] =
    Lookback.iterator.flatMap {
      entries =>
        val last  = Position(ledger.id, ledger.entries - 1)
        val after = Seq(Position(ledger.id, math.max(-1, last.entryId - entries)), range.startExclusive).max
        if (after >= last) None
        else {
          val walk = open(OffsetRange(range.topic, after, last))
          try {
            walk.advance(Long.MaxValue, Long.MaxValue, isInTime)
            walk.lastMessage.filter(_ => isInTime())
          } finally walk.close()
        }
    }.nextOption()

  /** Stops running work. */
  def stop(millis: Long): Boolean = threads.stop(millis)
}

private[stream] object LedgerSteps {
  private val log = LoggerFactory.getLogger(classOf[LedgerSteps])

  /** The end of a micro-batch in a partition.
    *
    * @param ledgerId
    *   no entry after `end` in this ledger is a message
    * @param bytes
    *   upper bound of the bytes from the start of the range
    */
  final case class Step(end: Position, ledgerId: Long, bytes: Long)

  /** Partitions that are looked at at a time. */
  private val Threads = 16

  /** Numbers of entries at the end of a ledger that are read to find its last message, one after the other. */
  private val Lookback = Seq(1L, 100L)
}
