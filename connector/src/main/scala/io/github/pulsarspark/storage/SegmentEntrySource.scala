package io.github.pulsarspark.storage

import io.netty.buffer.ByteBuf
import org.slf4j.LoggerFactory

import io.github.pulsarspark.errors.{Conditions, DataLossPolicy, PulsarException}
import io.github.pulsarspark.format.entry.EntrySource
import io.github.pulsarspark.format.{RangeGuard, Tier, UndecidedTransaction}
import io.github.pulsarspark.options.{ReadLevel, ReadOptions}
import io.github.pulsarspark.position.{OffsetRange, Position}
import io.github.pulsarspark.pulsar.broker.BrokerEntrySource
import io.github.pulsarspark.pulsar.connection.ClientPool
import io.github.pulsarspark.storage.bookkeeper.protocol.WireConnections
import io.github.pulsarspark.storage.bookkeeper.{BookieEntrySource, Reachability}
import io.github.pulsarspark.storage.ledgers.KnownLedgers
import io.github.pulsarspark.storage.offload.OffloadedLedgers
import io.github.pulsarspark.storage.segment.{HadoopSettings, OffloadedLedger, SegmentLocation, SegmentUnreadable, Slice}

/** The entries of a slice, from wherever they are. When they cannot be read there any more (a bookie was replaced, a
  * ledger was offloaded or trimmed), the rest of the slice is looked up again, and when that does not help, the broker
  * reads it, unless `readLevel` forbids that.
  */
private[pulsarspark] final class SegmentEntrySource private[storage] (
    slice: Slice,
    options: ReadOptions,
    hadoop: HadoopSettings,
    connections: WireConnections,
    reachability: Reachability
) extends EntrySource {
  import SegmentEntrySource._

  private var left                = List(slice)
  private var source: EntrySource = _
  private var last                = slice.range.startExclusive
  private var before              = slice.range.startExclusive // the entry before the one at hand
  private var isBegun             = false                      // the source is more than prepared
  private var attempts            = 0
  private var waitingSince        = 0L
  private var passed              = 0L                         // ranges lost in sources that are closed
  private val losses              = new DataLossPolicy(options.failOnDataLoss)
  private val guard               = new RangeGuard(slice.range)

  override def ledgerId: Long   = source.ledgerId
  override def entryId: Long    = source.entryId
  override def entry: ByteBuf   = source.entry
  override def lostRanges: Long = passed + losses.lostRanges + (if (source == null) 0 else source.lostRanges)

  /** Entries that arrived out of the range or of their order, and were not handed out. */
  def rejectedEntries: Long = guard.rejected

  /** Who delivers the entry at hand. */
  def level: Tier = left.head.level

  /** Requests entries of bookies before they are needed. What fails here fails again when they are. */
  def prepare(): Unit = if (left.headOption.exists(_.level == Tier.Bookies))
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
            reachability.doubt(e.silent)
            lookAgain(e, isSilent = e.silent.nonEmpty)
          case e: PulsarException if Conditions.OffloadTimeout.is(e) =>
            tiered(left.head).foreach(ledger => UnresponsiveStorage.add(ledger.location))
            lookAgain(e, isSilent = true)
          case e: PulsarException if OffloadFailures.exists(_.is(e)) => lookAgain(e, isSilent = false)
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

  /** Lets the broker deliver the entry at hand, if it does, and what follows: the others cannot know what it knows. */
  def leaveToBroker(undecided: UndecidedTransaction): Unit = {
    val reason = undecided.getMessage
    if (options.readLevel == ReadLevel.Segment) throw failed(before, reason, undecided)
    closeSource()
    log.warn("{}: the broker goes on after {}: {}", slice.range, before, reason: Any)
    left = List(Slice(OffsetRange(slice.range.topic, before, slice.range.endInclusive), None, reason))
    last = before
  }

  /** Opens what is next unless it is open. What was opened ahead is given up when its storage has become silent since.
    */
  private def begin(): Unit = if (!isBegun) {
    val next = readable(left.head)
    if (next ne left.head) closeSource()
    left = next :: left.tail
    if (source == null) source = open(next)
    isBegun = true
  }

  /** The slice, or what the broker reads in its place where storage has become silent, or cannot be reached from here.
    */
  private def readable(slice: Slice): Slice =
    (if (options.readLevel == ReadLevel.Auto) slice.segment.flatMap(s => obstacle(s.home)) else None).fold(slice) {
      obstacle =>
        log.warn("{}: {}; the broker reads it", slice.range, obstacle: Any)
        Slice(slice.range, None, obstacle)
    }

  private def obstacle(home: SegmentLocation): Option[String] = home match {
    case SegmentLocation.Bookies(ledger) => reachability.obstacle(ledger)
    case SegmentLocation.Tiered(ledger)  => UnresponsiveStorage.obstacle(ledger.location)
  }

  private def tiered(slice: Slice): Option[OffloadedLedger] = slice.segment.map(_.home).collect {
    case SegmentLocation.Tiered(ledger) =>
      ledger
  }

  private def open(slice: Slice): EntrySource = slice.segment.map(s => s -> s.home) match {
    case None                                             => BrokerEntrySource(slice.range, options, guard)
    case Some((segment, SegmentLocation.Bookies(ledger))) =>
      BookieEntrySource.open(ledger, segment, options, connections)
    case Some((segment, SegmentLocation.Tiered(ledger))) =>
      OffloadedLedgers.open(ledger, segment.first, segment.last, hadoop.configuration, options.readAheadBytes,
        options.pollTimeout)
  }

  /** Plans what is left of the slice anew, but for storage that gives no answer: where the broker may read, it does.
    * Always false.
    */
  private def lookAgain(unreadable: Exception, isSilent: Boolean): Boolean = {
    closeSource()
    attempts += 1
    val rest   = OffsetRange(slice.range.topic, last, slice.range.endInclusive)
    val inTime = System.nanoTime() - waitingSince < options.pollTimeout.toNanos
    val again  = attempts <= MostLookUps && inTime && !(isSilent && options.readLevel == ReadLevel.Auto)
    log.warn("{}: {}; {}", rest, unreadable.getMessage, if (again) "looking up the ledger again" else "giving up": Any)
    left =
      if (again) lookUp(rest)
      else if (options.readLevel == ReadLevel.Auto) List(Slice(rest, None, unreadable.getMessage))
      else throw failed(last, unreadable.getMessage, unreadable)
    false
  }

  private def failed(after: Position, reason: String, cause: Throwable) =
    Conditions.SegmentReadFailed(topic = slice.range.topic, position = after.toString, cause = reason).causedBy(cause)

  private def lookUp(rest: OffsetRange): List[Slice] = {
    val lease = ClientPool.acquire(options.client)
    try new SegmentLocator(lease, options, hadoop, losses, new KnownLedgers).slices(Seq(rest)).toList
    finally lease.close()
  }

  private def closeSource(): Unit = if (source != null) {
    passed += source.lostRanges
    isBegun = false
    try source.close()
    finally source = null
  }

  override def close(): Unit = closeSource()
}

private object SegmentEntrySource {
  private val log = LoggerFactory.getLogger(classOf[SegmentEntrySource])

  /** Further failures go to the broker. */
  private val MostLookUps = 2

  /** Of the offloaded copy itself, not of a storage that does not respond. */
  private val OffloadFailures =
    Seq(Conditions.OffloadCorrupt, Conditions.OffloadFailed, Conditions.OffloadGone, Conditions.OffloadUnsupported)
}
