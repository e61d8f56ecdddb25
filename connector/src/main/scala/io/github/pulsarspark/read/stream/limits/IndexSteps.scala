package io.github.pulsarspark.read.stream.limits

import scala.annotation.tailrec
import scala.collection.concurrent.TrieMap
import scala.concurrent.duration.FiniteDuration
import scala.util.Using
import scala.util.control.NonFatal

import org.slf4j.LoggerFactory

import io.github.pulsarspark.common.BlockingParallel
import io.github.pulsarspark.position.{OffsetRange, Position}
import io.github.pulsarspark.storage.ClosedLedgers
import io.github.pulsarspark.storage.segment.Segment

/** Ends the micro-batches of a stream whose only limit is one of messages where brokers number messages: it reads the
  * first and the last entry of a ledger, and a few entries around the end, instead of all. The limit is not exceeded
  * where producers state how many messages their batches have.
  *
  * Partitions whose closed ledgers have fewer messages than the limit are left to [[BacklogWalk]], so that every other
  * one can fill its share. For one thread, which may be interrupted.
  *
  * @param closed
  *   closed ledgers of a range, up to a number of bytes
  * @param returnsAll
  *   whether the stream returns every message in the ledgers of a range but its last; messages of transactions have no
  *   index
  * @param patience
  *   how long one trigger reads indexes; partitions that it did not get to are walked
  * @param least
  *   threshold of messages in a partition's share
  */
private[stream] final class IndexSteps(
    closed: (OffsetRange, Long) => ClosedLedgers,
    returnsAll: OffsetRange => Boolean,
    patience: FiniteDuration,
    least: Long = IndexSteps.MinRows
) {
  import IndexSteps._

  private val threads = new BlockingParallel("pulsar-message-indexes", Threads)
  private val known   = TrieMap.empty[String, Map[Long, LedgerPart]] // whole ledgers, by partition
  private val without = TrieMap.empty[String, Position]              // the end of a ledger that is walked

  /** Ranges that can be ended by broker indexes. Their ends come from [[ends]].
    *
    * @param backlog
    *   ranges that are not empty, from what was read to the last message
    */
  def usable(backlog: Seq[OffsetRange], budget: TriggerBudget): Map[String, Numbered] =
    (budget.rows, budget.bytes, budget.minimum) match {
      case (Some(rows), None, None) if rows / math.max(1, backlog.size) >= least =>
        val deadline = System.nanoTime() + patience.toNanos
        val found    = TrieMap.empty[String, Numbered]
        val long     = backlog.filter(r => r.startExclusive.ledgerId < r.endInclusive.ledgerId && mayHave(r))
        threads.run(long.map { range => () =>
          if (System.nanoTime() < deadline)
            attempt(range)(numbered(range, rows)).flatten.foreach(found.put(range.topic, _))
        })
        known.filterInPlace((topic, _) => found.contains(topic))
        val topics = backlog.map(_.topic).toSet
        without.filterInPlace((topic, _) => topics(topic))
        found.toMap
      case _ => Map.empty
    }

  /** Ends of the next micro-batch in these ranges, each after its start.
    *
    * @param rows
    *   for all of them
    */
  def ends(ranges: Map[String, Numbered], rows: Long): Map[String, Position] =
    if (ranges.isEmpty) Map.empty
    else {
      val share = rows / ranges.size
      val found = TrieMap.empty[String, Position]
      threads.run(ranges.toSeq.map { case (topic, numbered) => () => found.put(topic, end(numbered, share)); () })
      found.toMap
    }

  private def mayHave(range: OffsetRange) =
    without.get(range.topic).forall(_ <= range.startExclusive)

  private def attempt[A](range: OffsetRange)(body: => A): Option[A] =
    try Some(body)
    catch {
      case NonFatal(e) =>
        log.info("{}: the indexes of messages cannot be read: {}", range.topic, e.toString: Any)
        None
    }

  /** Numbers the messages of a range; None unless its ledgers have this many. */
  private def numbered(range: OffsetRange, rows: Long): Option[Numbered] =
    first(range).flatMap { case (first, bytes) =>
      if (!returnsAll(range)) {
        without.put(range.topic, first.end) // it is walked, and the next ledger is not looked at before
        None
      } else if (first.messages >= rows) Some(Numbered(range, Seq(first)))
      else {
        val needed = (BigInt(rows) * bytes / first.messages * 3 / 2).min(Long.MaxValue).toLong
        val parts  = Using.resource(closed(range, math.max(1, needed)))(all => this.parts(range, all, all.segments))
        Option.when(parts.map(_.messages).sum >= rows)(Numbered(range, parts))
      }
    }

  /** The first ledger of a range, and its bytes. */
  private def first(range: OffsetRange): Option[(LedgerPart, Long)] =
    Using.resource(closed(range, 1)) { two =>
      val one = two.segments.take(1)
      parts(range, two, one).zip(one.map(_.bytes)).headOption
    }

  /** Parts of the range before the first ledger whose messages have no indexes. */
  private def parts(range: OffsetRange, ledgers: ClosedLedgers, wanted: Seq[Segment]): Seq[LedgerPart] = {
    val start  = range.startExclusive
    val before = known.getOrElse(range.topic, Map.empty).filter(_._1 > start.ledgerId)
    val fresh  = wanted.filterNot(s => before.contains(s.ledgerId))
    val read   = fresh.flatMap(s => LedgerPart.samples(s.first, s.last).map(Position(s.ledgerId, _)))
    val sample = read.zip(ledgers.indexes(read)).toMap
    val found  = before ++ fresh.flatMap { segment =>
      val isCut = segment.ledgerId == start.ledgerId && !start.isWholeEntry
      LedgerPart(segment.ledgerId, segment.first, segment.last, if (isCut) start.batchIndex + 1 else 0,
        entry => sample(Position(segment.ledgerId, entry))).map(segment.ledgerId -> _)
    }
    known.put(range.topic, found - start.ledgerId)
    wanted.find(s => !found.contains(s.ledgerId))
      .foreach(missing => without.put(range.topic, Position(missing.ledgerId, missing.last)))
    wanted.map(s => found.get(s.ledgerId)).takeWhile(_.nonEmpty).flatten
  }

  private def end(numbered: Numbered, share: Long): Position = {
    val enough = share - share / Tolerance

    @tailrec
    def pass(parts: List[LedgerPart], rows: Long, end: Position): Position = parts match {
      case part :: rest if rows + part.messages <= share => pass(rest, rows + part.messages, part.end)
      case part :: _ if rows < enough                    => inside(numbered.range, part, share - rows, enough - rows)
      case _                                             => end
    }
    pass(numbered.parts.toList, 0, numbered.range.startExclusive)
  }

  private def inside(range: OffsetRange, part: LedgerPart, most: Long, enough: Long): Position = {
    val (end, messages) =
      attempt(range)(Using.resource(closed(range.copy(startExclusive = Position(part.ledgerId, -1)), 1)) { ledger =>
        part.end(most, enough,
          entry => attempt(range)(ledger.indexes(Seq(Position(part.ledgerId, entry))).head).flatten)
      }).getOrElse(part.end(most, enough, _ => None))
    if (messages < enough) without.put(range.topic, part.end) // the rest of the ledger is walked
    end
  }

  /** Stops running work. */
  def stop(millis: Long): Boolean = threads.stop(millis)
}

private[stream] object IndexSteps {
  private val log = LoggerFactory.getLogger(classOf[IndexSteps])

  /** A range that begins with ledgers whose messages have indexes. */
  final case class Numbered(range: OffsetRange, parts: Seq[LedgerPart])

  /** Partitions that are looked at at a time. */
  private val Threads = 16

  /** Threshold of rows: below it, a partition is counted within milliseconds. */
  val MinRows = 10000L

  /** Fraction of the limit by which a micro-batch may be smaller: 1/50. */
  private val Tolerance = 50L
}
