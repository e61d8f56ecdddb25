package io.github.pulsarspark.storage

import io.netty.buffer.ByteBuf
import org.slf4j.LoggerFactory

import io.github.pulsarspark.errors.{Conditions, DataLossPolicy, LostRanges}
import io.github.pulsarspark.format.entry.EntrySource
import io.github.pulsarspark.format.{RangeGuard, Tier, TieredEntrySource, UndecidedTransaction}
import io.github.pulsarspark.options.{ReadLevel, ReadOptions}
import io.github.pulsarspark.position.{OffsetRange, Position}
import io.github.pulsarspark.storage.segment.{SegmentUnreadable, Slice}

/** The entries of a slice, from wherever they are. When they cannot be read there any more (a bookie was replaced, a
  * ledger was offloaded or trimmed), the rest of the slice is located again, at most twice. After that, and at once
  * where a store did not respond, the broker reads it, unless `readLevel` forbids that.
  *
  * @param stores
  *   of the task
  * @param fromBroker
  *   opens a range at broker level
  * @param locate
  *   the slices of a range, by what the admin service reports now
  */
private[pulsarspark] final class SegmentEntrySource private[storage] (
    slice: Slice,
    options: ReadOptions,
    stores: SegmentStores,
    fromBroker: (OffsetRange, RangeGuard) => EntrySource,
    locate: (OffsetRange, DataLossPolicy) => Seq[Slice]
) extends TieredEntrySource {
  import SegmentEntrySource._

  private var left                = List(slice)
  private var source: EntrySource = _
  private var last                = slice.range.startExclusive
  private var before              = slice.range.startExclusive // the entry before the current one
  private var isBegun             = false                      // the source is more than prepared
  private var attempts            = 0
  private var waitingSince        = 0L
  private var passed              = LostRanges.none            // in closed sources
  private var reconnected         = 0L                         // by closed sources
  private val losses              = new DataLossPolicy(options.failOnDataLoss)
  private val guard               = new RangeGuard(slice.range)

  override def ledgerId: Long   = source.ledgerId
  override def entryId: Long    = source.entryId
  override def entry: ByteBuf   = source.entry
  override def lost: LostRanges = passed ++ losses.lost ++ (if (source == null) LostRanges.none else source.lost)

  override def reconnects: Long = reconnected + (if (source == null) 0L else source.reconnects)

  override def rejectedEntries: Long = guard.rejected

  override def level: Tier = left.head.level

  /** Opens a direct read before it is needed, so that its store may request entries. A failure here occurs again when
    * the entries are needed.
    */
  override def prepare(): Unit = if (left.headOption.exists(_.segment.nonEmpty))
    try {
      begin()
      isBegun = false
    } catch { case e: SegmentUnreadable => log.info("{}: {}", slice.range, e.getMessage) }

  override def next(): Boolean = {
    waitingSince = System.nanoTime()
    while (left.nonEmpty) {
      val more =
        try {
          begin()
          source.next()
        } catch {
          case e: SegmentUnreadable =>
            left.head.segment.foreach(stores.failed(_, e))
            fallBack(e)
        }
      if (more) {
        val entry = Position(source.ledgerId, source.entryId)
        if (guard.admits(entry, last)) {
          before = last
          last = entry
          return true
        }
      } else if (source != null) {
        closeSource()
        left = left.tail
      }
    }
    false
  }

  override def leaveToBroker(undecided: UndecidedTransaction): Unit = {
    val reason = undecided.getMessage
    if (options.readLevel == ReadLevel.Segment) throw failed(before, reason, undecided)
    closeSource()
    log.warn("{}: the broker goes on after {}: {}", slice.range, before, reason: Any)
    left = List(Slice.ByBroker(OffsetRange(slice.range.topic, before, slice.range.endInclusive), reason))
    last = before
  }

  /** Opens the next slice unless it is open. A source that was opened ahead is closed when its store has stopped
    * responding since.
    */
  private def begin(): Unit = if (!isBegun) {
    val next = readable(left.head)
    if (next ne left.head) closeSource()
    left = next :: left.tail
    if (source == null) source = open(next)
    isBegun = true
  }

  /** The slice, or the same range at broker level where its store does not respond. */
  private def readable(slice: Slice): Slice =
    (if (options.readLevel == ReadLevel.Auto) slice.segment.flatMap(s => stores.obstacle(s.ledgerId, s.location))
     else None)
      .fold(slice) { obstacle =>
        log.warn("{}: {}; the broker reads it", slice.range, obstacle: Any)
        Slice.ByBroker(slice.range, obstacle)
      }

  private def open(slice: Slice): EntrySource =
    slice.segment.fold(fromBroker(slice.range, guard))(stores.open)

  /** Locates the rest of the slice again, unless the store did not respond and the broker may read. Always false. */
  private def fallBack(unreadable: SegmentUnreadable): Boolean = {
    closeSource()
    attempts += 1
    val rest   = OffsetRange(slice.range.topic, last, slice.range.endInclusive)
    val inTime = System.nanoTime() - waitingSince < options.pollTimeout.toNanos
    val isAuto = options.readLevel == ReadLevel.Auto
    val again  = attempts <= MaxLookUps && inTime && !(unreadable.isSilent && isAuto)
    log.warn("{}: {}; {}", rest, unreadable.getMessage, if (again) "looking up the ledger again" else "giving up": Any)
    left =
      if (again) locate(rest, losses).toList
      else if (isAuto) List(Slice.ByBroker(rest, unreadable.getMessage))
      else throw failed(last, unreadable.getMessage, unreadable)
    false
  }

  private def failed(after: Position, reason: String, cause: Throwable) =
    Conditions.SegmentReadFailed(topic = slice.range.topic, position = after.toString, cause = reason).causedBy(cause)

  private def closeSource(): Unit = if (source != null) {
    passed ++= source.lost
    reconnected += source.reconnects
    isBegun = false
    try source.close()
    finally source = null
  }

  override def close(): Unit = closeSource()
}

private object SegmentEntrySource {
  private val log = LoggerFactory.getLogger(classOf[SegmentEntrySource])

  /** Limit of look-ups of a ledger. After more failures the broker reads it. */
  private val MaxLookUps = 2
}
