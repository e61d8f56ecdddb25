package io.github.pulsarspark.read.plan

import scala.annotation.tailrec
import scala.collection.concurrent.TrieMap
import scala.collection.mutable
import scala.util.Using

import io.github.pulsarspark.common.BlockingParallel
import io.github.pulsarspark.format.TransactionView
import io.github.pulsarspark.options.ReadOptions
import io.github.pulsarspark.position.{Interval, OffsetRange, Position}
import io.github.pulsarspark.pulsar.BrokerEntries
import io.github.pulsarspark.pulsar.broker.BrokerApi

/** Finds where the newest messages of topic partitions begin. Counts them from the end backwards, a few entries at a
  * time, with the decoder of tasks: so it counts what tasks return, and neither markers, aborted messages, messages
  * that compaction removed nor those that lack chunks. The number of entries to read next follows from the messages in
  * those that were read.
  *
  * @param firstEntries
  *   number of entries to read first, if there are not fewer messages to find
  */
private[read] final class NewestMessages(
    options: ReadOptions,
    broker: BrokerApi,
    firstEntries: Long = NewestMessages.FirstEntries
) {
  import NewestMessages._

  /** Positions before the newest messages, by partition. */
  def starts(wanted: Seq[Wanted]): Map[String, Position] =
    if (wanted.isEmpty) Map.empty
    else {
      val threads = new BlockingParallel("pulsar-newest-messages", Threads)
      val found   = TrieMap.empty[String, Position]
      try threads.run(wanted.map { one => () => found.put(one.range.topic, start(one)); () })
      finally threads.stop(options.pollTimeout.toMillis)
      found.toMap
    }

  private def start(wanted: Wanted): Position = {
    val first = wanted.range.startExclusive

    @tailrec
    def before(end: Position, missing: Int, entries: Long): Position =
      if (end <= first) first
      else {
        val from    = Seq(first, back(wanted.range.topic, end, entries)).max
        val counted = count(wanted.copy(range = wanted.range.copy(startExclusive = from, endInclusive = end)), missing,
          entries)
        if (counted.messages >= missing) counted.start
        else before(from, missing - counted.messages, next(entries, counted.messages, missing))
      }
    before(wanted.range.endInclusive, wanted.messages, math.min(wanted.messages.toLong, firstEntries))
  }

  /** The position so many entries before another one, or before all. A cursor in front of a ledger stands at the last
    * entry of the ledger before.
    */
  @tailrec
  private def back(topic: String, end: Position, entries: Long): Position =
    if (end.entryId + 1 >= entries) Position(end.ledgerId, end.entryId - entries)
    else {
      val front = Position(end.ledgerId, -1)
      broker.readersAfter(Map(topic -> front)).get(topic).filter(p => p < front && !p.isBeforeLedger) match {
        case Some(last) => back(topic, last, entries - end.entryId - 1)
        case None       => Position.BeforeAll
      }
    }

  private def count(wanted: Wanted, missing: Int, entries: Long): Counted = {
    val driver = options.copy(
      failOnDataLoss = false, // tasks report losses
      readAheadMessages = math.min(entries, options.readAheadMessages.toLong).toInt,
      readAheadBytes = math.min(ReadAheadBytes, options.readAheadBytes)
    )
    val end     = wanted.range.endInclusive
    val decoder = CountingDecoder(wanted.range.topic, options, TransactionView.NothingAborted, broker)
    Using.resource(BrokerEntries.growingEntries(wanted.range, driver)) { source =>
      val counted = new Counted(missing, wanted.range.startExclusive)
      while (source.next()) {
        val at   = Position(source.ledgerId, source.entryId)
        val last = if (at == end.wholeEntry && !end.isWholeEntry) end.batchIndex else Int.MaxValue
        decoder.open(at.ledgerId, at.entryId, source.entry, -1, last)
        if (wanted.times.contains(decoder.message.publishTime)) {
          val indexes = mutable.ArrayBuilder.make[Int]
          while (decoder.next()) indexes += decoder.message.batchIndex
          counted.add(at, indexes.result())
        }
        source.release()
      }
      counted
    }
  }

  /** Entries to read next: as many as the missing messages probably are in. */
  private def next(entries: Long, messages: Int, missing: Int): Long =
    if (messages == 0) entries * Growth
    else math.min(entries * Growth * Growth, (missing - messages) * entries / messages + firstEntries)
}

private[read] object NewestMessages {

  /** A number of newest messages of a range, published at these times. */
  final case class Wanted(range: OffsetRange, messages: Int, times: Interval)

  /** Messages of a range. Keeps the entries with the newest ones.
    *
    * @param most
    *   number of messages to keep
    * @param before
    *   the position before the range
    */
  private final class Counted(most: Int, before: Position) {
    private val entries = mutable.ArrayDeque.empty[(Position, Array[Int])]
    private var sum     = 0

    def add(entry: Position, indexes: Array[Int]): Unit = if (indexes.nonEmpty) {
      entries += entry -> indexes
      sum += indexes.length
      while (sum - entries.head._2.length >= most) sum -= entries.removeHead()._2.length
    }

    def messages: Int = sum

    /** The position before the newest messages. */
    def start: Position = entries.headOption.fold(before) { case (entry, indexes) =>
      if (sum <= most) entry.preceding else entry.copy(batchIndex = indexes(sum - most - 1))
    }
  }

  /** Partitions that are looked at at a time. */
  private val Threads = 16

  private val FirstEntries = 32L

  /** Factor for the number of entries where there was no message. */
  private val Growth = 4L

  private val ReadAheadBytes = 1L << 20
}
