package io.github.pulsarspark.storage.backlog

import scala.annotation.tailrec

import io.netty.buffer.ByteBuf

import io.github.pulsarspark.common.BlockingParallel
import io.github.pulsarspark.errors.LostRanges
import io.github.pulsarspark.format.{Tier, TieredEntrySource, UndecidedTransaction}
import io.github.pulsarspark.options.ReadOptions
import io.github.pulsarspark.position.{OffsetRange, Position}
import io.github.pulsarspark.pulsar.BrokerEntries
import io.github.pulsarspark.pulsar.tail.TailEntrySource
import io.github.pulsarspark.pulsar.transactions.AbortedTransactions
import io.github.pulsarspark.storage.TaskStorage
import io.github.pulsarspark.storage.segment.Slice

/** The entries of a topic partition without an end, for a reader that must not wait: those of a backlog where they are
  * stored, then what the broker delivers. The tail begins at the last entry of the backlog that was delivered. The
  * broker sends that entry first, which proves that none is missing between the two.
  *
  * @param range
  *   from the last message that counts as read; has no end
  * @param known
  *   a message that is known to exist
  * @param stored
  *   the entries of the backlog, in the range and in order
  * @param tail
  *   opens the tail after a position
  */
private[pulsarspark] final class FollowedEntries private[backlog] (
    range: OffsetRange,
    known: Position,
    stored: Option[EntriesAhead],
    tail: Position => TailEntrySource
) extends TieredEntrySource {

  @volatile private var backlog = stored
  private var follower          = Option.empty[TailEntrySource]
  private var changed: Runnable = () => ()
  private var last              = range.startExclusive // the last entry of the backlog that was delivered

  /** True while stored entries are left: the partition has nothing that is new. */
  def isBehind: Boolean = backlog.nonEmpty

  /** @param changed
    *   is called, on any thread, when [[next]] may deliver
    */
  def begin(changed: Runnable): Unit = {
    this.changed = changed
    backlog.fold(follow())(_.begin(changed))
  }

  @tailrec
  override def next(): Boolean = backlog match {
    case None        => follower.exists(_.next())
    case Some(ahead) =>
      ahead.next() match {
        case EntriesAhead.Step.Entry =>
          last = Position(ahead.current.ledgerId, ahead.current.entryId)
          true
        case EntriesAhead.Step.Silence => false
        case EntriesAhead.Step.End     =>
          ahead.close()
          follow()
          backlog = None
          next()
      }
  }

  private def follow(): Unit = {
    val source = tail(last)
    follower = Some(source)
    source.lend(known, changed)
  }

  /** Looks at silence where that is due. Call it about once a second. */
  def look(): Unit = follower.foreach(_.look())

  override def ledgerId: Long = backlog.fold(follower.get.ledgerId)(_.current.ledgerId)
  override def entryId: Long  = backlog.fold(follower.get.entryId)(_.current.entryId)
  override def entry: ByteBuf = backlog.fold(follower.get.entry)(_.current.buffer)
  override def level: Tier    = backlog.fold[Tier](Tier.Broker)(_.current.level)

  override def hidesAborted: Boolean = true

  private def counts: SourceCounts = {
    val before = stored.fold(SourceCounts.none)(_.counts)
    follower.fold(before)(before + _)
  }

  override def lost: LostRanges      = counts.lost
  override def rejectedEntries: Long = counts.rejected
  override def reconnects: Long      = counts.reconnects

  override def leaveToBroker(undecided: UndecidedTransaction): Unit = throw undecided

  /** Leaves the tail to the next task of the stream, with the entry of which messages are left. A backlog is closed.
    *
    * @param position
    *   the last message read
    */
  def leave(stream: String, position: Position): Unit = follower match {
    case Some(source) =>
      if (!position.isWholeEntry && Position(source.ledgerId, source.entryId) == position.wholeEntry) source.repeat()
      BrokerEntries.leave(stream, range.topic, position, source)
    case None => close()
  }

  /** Closes without waiting, after the work under way. */
  override def close(): Unit =
    try backlog.foreach(_.close())
    finally follower.foreach(_.close())
}

private[pulsarspark] object FollowedEntries {

  private val background = new BlockingParallel("pulsar-backlog", threads = 16)

  /** The tail that an earlier task left at the start of the range goes on, unless the backlog is in other ledgers than
    * the newest one: it has what was sent since.
    *
    * @param backlog
    *   slices from the start of the range, up to a known message or before it
    * @param stream
    *   the run of a stream
    * @param storage
    *   opens the storage for the backlog, with a read-ahead of its own
    */
  def apply(
      range: OffsetRange,
      known: Position,
      backlog: Seq[Slice],
      options: ReadOptions,
      stream: String,
      storage: ReadOptions => TaskStorage
  ): FollowedEntries = {
    def open(after: Position) = BrokerEntries.tail(range.copy(startExclusive = after), options, stream)
    if (backlog.isEmpty) new FollowedEntries(range, known, None, open)
    else {
      val kept = BrokerEntries.keptTail(range, stream)
      val live = kept.filter(_ => backlog.forall(_.range.endInclusive.ledgerId >= known.ledgerId))
      if (live.nonEmpty) new FollowedEntries(range, known, None, after => live.getOrElse(open(after)))
      else {
        kept.foreach(_.close())
        new FollowedEntries(range, known, Some(ahead(range, known, backlog, options, storage)), open)
      }
    }
  }

  /** Half of the read-ahead is for the queue, the rest for the two slices that are open. */
  private def ahead(
      range: OffsetRange,
      known: Position,
      backlog: Seq[Slice],
      options: ReadOptions,
      storage: ReadOptions => TaskStorage
  ): EntriesAhead = {
    val opened       = storage(options.copy(readAheadBytes = math.max(1L, options.readAheadBytes / 4)))
    val transactions = AbortedTransactions.of(range.copy(endInclusive = known), options)
    new EntriesAhead(
      new SliceEntries(backlog, opened.entries(_), transactions, opened),
      math.max(1L, options.readAheadBytes / 2),
      work => { background.start(work); () }
    )
  }
}
