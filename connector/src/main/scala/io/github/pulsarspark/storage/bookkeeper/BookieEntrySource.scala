package io.github.pulsarspark.storage.bookkeeper

import java.util.concurrent.{CompletableFuture, CompletionException, ExecutionException, TimeUnit, TimeoutException}

import io.netty.buffer.ByteBuf
import org.apache.bookkeeper.client.api.{BKException, DigestType, LedgerEntries, LedgerEntry, ReadHandle}
import org.slf4j.LoggerFactory

import io.github.pulsarspark.log.EntrySource
import io.github.pulsarspark.options.ReadOptions
import io.github.pulsarspark.storage.{BookieLedger, Segment, SegmentUnreadable}

/** Entries of a ledger as bookies give them: from its making on some windows of consecutive entries are on their way, within `readAheadBytes`.
  *
  * Replicas are BookKeeper's affair: each entry is asked of another bookie when one fails, is slow or gives bytes that do not fit their checksum. When a read of
  * many entries fails or does not come back in time (BookKeeper 4.17 loses one whose checksum is wrong), the window is read once more entry by entry. No entry is
  * waited for longer than `pollTimeoutMs`, half of which is left for that second read.
  */
private[storage] final class BookieEntrySource(ledger: BookieLedger, segment: Segment, options: ReadOptions)
    extends EntrySource {
  import BookieEntrySource._

  private val lease                = BookKeeperPool.acquire(options.bookKeeper)
  private val windows              = new java.util.ArrayDeque[EntryWindow]
  private val depth                = math.max(1L, math.min(MostInFlight, options.readAheadBytes / WindowBytes)).toInt
  private var window: EntryWindow  = _
  private var again: LedgerEntries = _ // the window at hand, read entry by entry
  private var current: LedgerEntry = _
  private var expected             = segment.first
  private var toAsk                = segment.first
  private var seen                 = 0L
  private var seenBytes            = 0L
  private var entriesAgain         = java.util.Collections.emptyIterator[LedgerEntry]()

  private val handle = open()
  ask()

  override def ledgerId: Long   = segment.ledgerId
  override def entryId: Long    = current.getEntryId
  override def entry: ByteBuf   = current.getEntryBuffer
  override def lostRanges: Long = 0

  override def next(): Boolean =
    if (expected > segment.last) false
    else {
      current = nextEntry()
      if (current.getEntryId != expected || current.getLedgerId != segment.ledgerId)
        throw unreadable(s"the bookies gave entry ${current.getLedgerId}:${current.getEntryId} instead", None)
      expected += 1
      seen += 1
      seenBytes += current.getEntryBuffer.readableBytes // its `getLength` is that of the ledger up to it
      true
    }

  private def nextEntry(): LedgerEntry = {
    var found = fromWindow()
    while (found == null) {
      moveOn()
      found = fromWindow()
    }
    found
  }

  private def fromWindow(): LedgerEntry =
    if (entriesAgain.hasNext) entriesAgain.next() else if (window == null) null else window.next()

  private def moveOn(): Unit = {
    val rest = Option(window).filter(w => w.reached < w.last).map(w => new EntryWindow(handle, w.reached + 1, w.last, MostBytes))
    releaseWindow()
    ask()
    window = rest.getOrElse(windows.poll())
    val deadline = System.nanoTime() + options.pollTimeout.toNanos
    try window.await(math.min(options.pollTimeout.toMillis / 2, lease.value.batchMillis))
    catch {
      case e: ExecutionException => readAgain(e.getCause, deadline)
      case e: TimeoutException   => readAgain(e, deadline)
    }
  }

  private def ask(): Unit = while (windows.size < depth && toAsk <= segment.last) {
    val last = math.min(segment.last, toAsk + entriesInWindow - 1)
    windows.add(new EntryWindow(handle, toAsk, last, MostBytes))
    toAsk = last + 1
  }

  private def readAgain(why: Throwable, deadline: Long): Unit = {
    val (first, last) = (window.first, window.last)
    log.info(s"reading entries $first to $last of ledger ${segment.ledgerId} one by one: $why")
    releaseWindow()
    again = answerTo(handle.thenCompose[LedgerEntries](_.readAsync(first, last)), deadline)
    entriesAgain = again.iterator
  }

  private def entriesInWindow: Long = {
    val average = if (seen > 0) seenBytes / seen else segment.bytes / math.max(1L, segment.last - segment.first + 1)
    math.max(1L, math.min(MostEntries, WindowBytes / math.max(1L, average)))
  }

  private def open(): CompletableFuture[ReadHandle] = {
    val reader = lease.value
    reader.ledgers.add(ledger, segment.last)
    reader.client.newOpenLedgerOp
      .withLedgerId(segment.ledgerId)
      .withRecovery(false)
      .withDigestType(DigestType.valueOf(ledger.digestType))
      .withPassword(ShippedLedgers.NoPassword)
      .execute()
      .whenComplete((_, _) => reader.ledgers.remove(segment.ledgerId))
  }

  private def answerTo[A](answer: CompletableFuture[A], deadline: Long): A =
    try answer.get(math.max(0L, deadline - System.nanoTime()), TimeUnit.NANOSECONDS)
    catch {
      case e: ExecutionException => throw unreadable(textOf(e.getCause), Some(e.getCause))
      case _: TimeoutException   => throw unreadable(s"no answer within ${options.pollTimeout.toMillis} ms (pollTimeoutMs)", None)
    }

  private def unreadable(why: String, cause: Option[Throwable]) =
    new SegmentUnreadable(s"entry $expected of ledger ${segment.ledgerId}: $why", cause.orNull)

  private def textOf(e: Throwable): String = e match {
    case wrapped: CompletionException if wrapped.getCause != null => textOf(wrapped.getCause)
    case bk: BKException => (BKException.getMessage(bk.getCode) +: lease.value.tlsProblem.toSeq).mkString("; ")
    case other           => String.valueOf(other.getMessage)
  }

  private def releaseWindow(): Unit = {
    if (window != null) window.release()
    window = null
    if (again != null) again.close()
    again = null
    entriesAgain = java.util.Collections.emptyIterator[LedgerEntry]()
  }

  override def close(): Unit =
    try {
      releaseWindow()
      windows.forEach(_.release())
      windows.clear()
      handle.thenCompose[Void](_.closeAsync())
      ()
    } finally lease.close()
}

private object BookieEntrySource {
  private val log = LoggerFactory.getLogger(classOf[BookieEntrySource])

  /** What is asked for at a time: larger windows gain nothing and cost memory, smaller ones cost requests. */
  private val WindowBytes  = 1024L * 1024
  private val MostInFlight = 4L
  private val MostEntries  = 10000L

  /** Of one answer: what a bookie gives at most by default. */
  private val MostBytes = 5L * 1024 * 1024
}
