package io.github.pulsarspark.storage.bookkeeper

import java.util.concurrent.{CompletableFuture, CompletionException, ExecutionException, TimeUnit, TimeoutException}

import scala.concurrent.duration.FiniteDuration

import io.netty.buffer.ByteBuf
import org.apache.bookkeeper.client.api.{BKException, DigestType, LedgerEntries, LedgerEntry, ReadHandle}
import org.slf4j.LoggerFactory

import io.github.pulsarspark.log.EntrySource
import io.github.pulsarspark.options.ReadOptions
import io.github.pulsarspark.storage.{BookieLedger, Segment, SegmentUnreadable}

/** Entries of a ledger by BookKeeper's own client: from its making on some windows of consecutive entries are on their way, within `readAheadBytes`.
  *
  * Replicas are BookKeeper's affair: each entry is asked of another bookie when one fails, is slow or gives bytes that do not fit their checksum. When a read of
  * many entries fails or does not come back in time (BookKeeper 4.17 loses one whose checksum is wrong), the window is read once more entry by entry. No entry is
  * waited for longer than `patience`, half of which is left for that second read.
  *
  * @param patience
  *   `pollTimeoutMs`, or what is left of it
  */
private[bookkeeper] final class ClientEntrySource(ledger: BookieLedger, segment: Segment, options: ReadOptions, patience: FiniteDuration)
    extends EntrySource {
  import ClientEntrySource._

  private val lease                = BookKeeperPool.acquire(options.bookKeeper)
  private val windows              = new java.util.ArrayDeque[EntryWindow]
  private val ahead                = new ReadAhead(segment, options.readAheadBytes, MostWindows, WindowBytes)
  private var window: EntryWindow  = _
  private var again: LedgerEntries = _ // the window at hand, read entry by entry
  private var current: LedgerEntry = _
  private var expected             = segment.first
  private var toAsk                = segment.first
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
      ahead.came(current.getEntryBuffer.readableBytes) // its `getLength` is that of the ledger up to it
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
    val rest = Option(window).filter(w => w.reached < w.last).map(w => ask(w.reached + 1, w.last))
    releaseWindow()
    ask()
    window = rest.getOrElse(windows.poll())
    val deadline = System.nanoTime() + patience.toNanos
    try window.await(math.min(patience.toMillis / 2, lease.value.batchMillis))
    catch {
      case e: ExecutionException => readAgain(e.getCause, deadline)
      case e: TimeoutException   => readAgain(e, deadline)
    }
  }

  private def ask(): Unit = while (windows.size < ahead.windows && toAsk <= segment.last) {
    val last = ahead.lastOfWindow(toAsk, segment.last)
    windows.add(ask(toAsk, last))
    toAsk = last + 1
  }

  private def ask(first: Long, last: Long) = new EntryWindow(handle, first, last, ReadAhead.MostAnswerBytes)

  private def readAgain(why: Throwable, deadline: Long): Unit = {
    val (first, last) = (window.first, window.last)
    log.info(s"reading entries $first to $last of ledger ${segment.ledgerId} one by one: $why")
    releaseWindow()
    again = answerTo(handle.thenCompose[LedgerEntries](_.readAsync(first, last)), deadline)
    entriesAgain = again.iterator
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

private object ClientEntrySource {
  private val log = LoggerFactory.getLogger(classOf[ClientEntrySource])

  /** What is asked for at a time: larger windows gain nothing and cost memory, smaller ones cost requests. */
  private val WindowBytes = 1024L * 1024
  private val MostWindows = 4
}
