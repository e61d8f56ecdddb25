package io.github.pulsarspark.storage.backlog

import scala.annotation.tailrec
import scala.collection.mutable
import scala.util.Using

import io.github.pulsarspark.format.{Tier, TieredEntrySource, TransactionFilter, TransactionView, UndecidedTransaction}
import io.github.pulsarspark.storage.segment.Slice

/** The entries of consecutive slices of a topic partition, without those of aborted transactions. The next slice is
  * opened while one is read. It waits for storage and brokers. Used by one thread at a time.
  *
  * @param open
  *   opens the entries of a slice
  * @param storage
  *   is closed after everything that was opened
  */
private[backlog] final class SliceEntries(
    slices: Seq[Slice],
    open: Slice => TieredEntrySource,
    transactions: TransactionView,
    storage: AutoCloseable
) extends AutoCloseable {
  import SliceEntries._

  private val filter = new TransactionFilter(transactions)
  private val opened = mutable.Queue.empty[TieredEntrySource]
  private var left   = slices.toList
  private var passed = SourceCounts.none // by slices that are done

  /** The source of the current entry. */
  def current: TieredEntrySource = opened.head

  /** Counts of all slices so far. */
  def counts: SourceCounts = opened.headOption.fold(passed)(passed + _)

  /** Moves to the next entry; false when all slices are done. */
  @tailrec
  def next(): Boolean = {
    openAhead()
    if (opened.isEmpty) false
    else if (!current.next()) {
      passed += current
      opened.dequeue().close()
      next()
    } else if (isAborted) next()
    else true
  }

  private def openAhead(): Unit = while (left.nonEmpty && opened.size < MaxOpen) {
    val source = open(left.head)
    opened.enqueue(source)
    left = left.tail
    source.prepare()
  }

  /** True if the current entry yields nothing. An entry whose transaction is undecided is delivered again, by the
    * broker.
    */
  private def isAborted: Boolean = current.level != Tier.Broker &&
    (try filter.isAborted(current.entry)
    catch {
      case undecided: UndecidedTransaction =>
        current.leaveToBroker(undecided)
        true
    })

  override def close(): Unit = {
    val all = Seq[AutoCloseable](storage) ++ opened.removeAll()
    Using.Manager(use => all.foreach(use(_))).get
  }
}

private object SliceEntries {

  /** The one that is read, and the one after it. */
  private val MaxOpen = 2
}
