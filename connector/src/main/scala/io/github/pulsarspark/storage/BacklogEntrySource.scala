package io.github.pulsarspark.storage

import scala.annotation.tailrec
import scala.collection.mutable
import scala.util.Using

import io.netty.buffer.ByteBuf

import io.github.pulsarspark.errors.LostRanges
import io.github.pulsarspark.format.{Tier, TransactionView, UndecidedTransaction}
import io.github.pulsarspark.options.ReadOptions
import io.github.pulsarspark.position.{OffsetRange, Position}
import io.github.pulsarspark.pulsar.BrokerEntries
import io.github.pulsarspark.pulsar.broker.GrowingEntrySource
import io.github.pulsarspark.pulsar.transactions.AbortedTransactions
import io.github.pulsarspark.storage.segment.{HadoopSettings, Slice}

/** The entries of a range whose end moves on, for the driver, which counts them. Closed ledgers are read where they are
  * stored, and the next one is opened concurrently. The broker delivers the entries after them, and new ones from then
  * on.
  *
  * @param stored
  *   the ledgers of a range, from its start, that can be read without the broker; some of them, if there are many
  * @param open
  *   opens the entries of one of them; its callback runs if they have moved, and everything is located again
  * @param aborted
  *   the transactions of a range
  * @param storage
  *   is closed after everything that was opened
  */
private[storage] final class BacklogEntrySource(
    range: OffsetRange,
    stored: OffsetRange => Seq[Slice],
    open: (Slice, () => Unit) => SegmentEntrySource,
    aborted: OffsetRange => TransactionView,
    fromBroker: OffsetRange => GrowingEntrySource,
    storage: AutoCloseable
) extends GrowingEntrySource {
  import BacklogEntrySource._

  private var until        = range.endInclusive
  private var passed       = range.startExclusive // the end of the last ledger that was read
  private var left         = List.empty[Slice]
  private val opened       = mutable.Queue.empty[(Slice, SegmentEntrySource)]
  private var isStale      = false                // what is `left`
  private var transactions = TransactionView.NothingAborted
  private var decidedTo    = range.startExclusive // what `transactions` covers

  private var broker: Option[GrowingEntrySource] = None

  @tailrec
  override def next(): Boolean = broker match {
    case Some(source)                                  => source.next()
    case None if opened.headOption.exists(_._2.next()) => true
    case None                                          =>
      closePassed()
      if (isStale) forget()
      if (passed >= until) false
      else {
        openNext()
        next()
      }
  }

  private def closePassed(): Unit = opened.removeHeadOption().foreach { case (slice, source) =>
    passed = slice.range.endInclusive
    source.close()
  }

  private def forget(): Unit = {
    isStale = false
    left = Nil
    opened.removeAll().foreach(_._2.close())
  }

  private def openNext(): Unit = {
    locate()
    while (left.nonEmpty && opened.size < MaxOpen) {
      val source = open(left.head, () => isStale = true)
      opened.enqueue(left.head -> source)
      left = left.tail
      source.prepare()
      locate()
    }
    if (opened.isEmpty) broker = Some(fromBroker(OffsetRange(range.topic, passed, until)))
  }

  /** Locates the rest of the range as late as possible, because ledgers are offloaded over time. */
  private def locate(): Unit = if (left.isEmpty && opened.size < MaxOpen) {
    val rest = OffsetRange(range.topic, opened.lastOption.fold(passed)(_._1.range.endInclusive), until)
    left = stored(rest).toList
    if (decidedTo < until) {
      decidedTo = until
      transactions = aborted(rest)
    }
  }

  private def current = broker.getOrElse(opened.head._2)

  override def ledgerId: Long = current.ledgerId
  override def entryId: Long  = current.entryId
  override def entry: ByteBuf = current.entry

  override def isAborted(mostBits: Long, leastBits: Long): Boolean =
    opened.headOption.exists(_._2.level != Tier.Broker) && transactions.isAborted(mostBits, leastBits)

  override def leaveToBroker(undecided: UndecidedTransaction): Unit = opened.head._2.leaveToBroker(undecided)

  override def extendTo(position: Position): Unit = {
    until = position
    broker.foreach(_.extendTo(position))
  }

  /** An entry of a ledger is released by what reads it. */
  override def release(): Unit = broker.foreach(_.release())

  override def lost: LostRanges =
    broker.fold(LostRanges.none)(_.lost) ++ opened.headOption.fold(LostRanges.none)(_._2.lost)

  override def close(): Unit = {
    val all = Seq[AutoCloseable](storage) ++ broker ++ opened.removeAll().map(_._2)
    Using.Manager(use => all.foreach(use(_))).get
  }
}

private[pulsarspark] object BacklogEntrySource {

  /** The one that is read, and the one after it. */
  private val MaxOpen = 2

  /** Byte limit that allows one more ledger: ledgers are offloaded while a stream reads. */
  private val AnyBytes = 1L

  /** @param options
    *   of the driver, which let the broker read where the driver does not reach the storage. What is lost is left to
    *   tasks.
    */
  def apply(
      range: OffsetRange,
      options: ReadOptions,
      hadoop: HadoopSettings,
      locator: SegmentLocator
  ): GrowingEntrySource = {
    val storage                               = new TaskStorage(options, hadoop, None)
    def open(slice: Slice, moved: () => Unit) =
      storage.entries(slice, () => { locator.moved(range.topic); moved() })
    new BacklogEntrySource(range, locator.stored(_, AnyBytes), open, AbortedTransactions.of(_, options),
      BrokerEntries.growingEntries(_, options), storage)
  }
}
