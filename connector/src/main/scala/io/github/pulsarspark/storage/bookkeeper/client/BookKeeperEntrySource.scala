package io.github.pulsarspark.storage.bookkeeper.client

import java.util.concurrent.{CompletableFuture, CompletionException, ExecutionException, TimeUnit, TimeoutException}

import scala.concurrent.duration._
import scala.util.control.NonFatal

import io.netty.buffer.ByteBuf
import org.apache.bookkeeper.client.BatchReads
import org.apache.bookkeeper.client.api.{BKException, DigestType, LedgerEntry, ReadHandle}
import org.slf4j.LoggerFactory

import io.github.pulsarspark.common.{Recently, SharedLease}
import io.github.pulsarspark.errors.{LostRanges, PulsarError}
import io.github.pulsarspark.format.entry.EntrySource
import io.github.pulsarspark.options.ReadOptions
import io.github.pulsarspark.storage.bookkeeper.bookies.{BookieAddress, BookieRanks, EntryWindow, HostNames, OldBookies, ReadAhead}
import io.github.pulsarspark.storage.segment.{BookieLocation, Segment, SegmentUnreadable}

/** Entries of a ledger by BookKeeper's own client: from the start some windows of consecutive entries are on their way,
  * within `readAheadBytes`.
  *
  * BookKeeper chooses replicas: it reads an entry from another bookie when one fails, is slow or returns bytes that do
  * not fit their checksum. When a read of many entries fails or does not return in time (BookKeeper 4.17 loses one
  * whose checksum is wrong), the window is read once more entry by entry. No entry is waited for longer than
  * `patience`, half of which is left for that second read.
  *
  * @param patience
  *   `pollTimeoutMs`, or what is left of it
  * @param old
  *   bookies without batch reads
  */
private[bookkeeper] final class BookKeeperEntrySource private (
    lease: SharedLease[BookKeeperReader],
    handle: CompletableFuture[ReadHandle],
    location: BookieLocation,
    segment: Segment,
    options: ReadOptions,
    patience: FiniteDuration,
    old: Recently[String]
) extends EntrySource {
  import BookKeeperEntrySource._

  private val isBatch = !location.bookies.exists(old.contains)
  private val windows = new java.util.ArrayDeque[EntryWindow]
  private val ahead   =
    new ReadAhead(segment, options.readAheadBytes, MaxWindows, WindowBytes,
      if (isBatch) ReadAhead.MaxEntries else MaxSingles)
  private var window: EntryWindow  = _
  private var current: LedgerEntry = _
  private var expected             = segment.first
  private var nextToRequest        = segment.first

  override def ledgerId: Long   = segment.ledgerId
  override def entryId: Long    = current.getEntryId
  override def entry: ByteBuf   = current.getEntryBuffer
  override def lost: LostRanges = LostRanges.none

  override def next(): Boolean =
    if (expected > segment.last) false
    else {
      current = nextEntry()
      if (current.getEntryId != expected || current.getLedgerId != segment.ledgerId)
        throw unreadable(s"the bookies returned entry ${current.getLedgerId}:${current.getEntryId} instead", None,
          isSilent = false)
      expected += 1
      ahead.received(current.getEntryBuffer.readableBytes) // its `getLength` is that of the ledger up to it
      true
    }

  private def nextEntry(): LedgerEntry = {
    var result = fromWindow()
    while (result == null) {
      moveOn()
      result = fromWindow()
    }
    result
  }

  private def fromWindow(): LedgerEntry = if (window == null) null else window.next()

  private def moveOn(): Unit = {
    val rest = Option(window).filter(w => w.reached < w.last).map(w => request(w.reached + 1, w.last))
    releaseWindow()
    requestAhead()
    window = rest.getOrElse(windows.poll())
    val deadline = System.nanoTime() + patience.toNanos
    if (!window.isBatch) waitForAll(deadline)
    else
      try {
        window.await(math.min(patience.toMillis / 2, lease.value.batchMillis))
        if (BatchReads.gaveUp(handle.getNow(null))) location.bookies.foreach(old.add)
      } catch {
        case e: ExecutionException => readAgain(e.getCause, deadline)
        case e: TimeoutException   => readAgain(e, deadline)
      }
  }

  private def requestAhead(): Unit = while (windows.size < ahead.windows && nextToRequest <= segment.last) {
    val last = ahead.lastOfWindow(nextToRequest, segment.last)
    windows.add(request(nextToRequest, last))
    nextToRequest = last + 1
  }

  private def request(first: Long, last: Long) =
    EntryWindow.request(handle, first, last, if (isBatch) EntryWindow.Batch(MaxAnswerBytes) else EntryWindow.Single)

  private def readAgain(why: Throwable, deadline: Long): Unit = {
    val (first, last) = (window.first, window.last)
    log.info(s"reading entries $first to $last of ledger ${segment.ledgerId} one by one: $why")
    releaseWindow()
    window = EntryWindow.request(handle, first, last, EntryWindow.Single)
    waitForAll(deadline)
  }

  private def waitForAll(deadline: Long): Unit =
    try window.await(TimeUnit.NANOSECONDS.toMillis(math.max(0L, deadline - System.nanoTime())))
    catch {
      case e: ExecutionException => throw unreadable(textOf(e.getCause), Some(e.getCause), isSilent(e.getCause))
      case _: TimeoutException   =>
        throw unreadable(s"no answer within ${options.pollTimeout.toMillis} ms (pollTimeoutMs)", None, isSilent = true)
    }

  private def unreadable(why: String, cause: Option[Throwable], isSilent: Boolean) = new SegmentUnreadable(
    s"entry $expected of ledger ${segment.ledgerId}: $why",
    cause.orNull,
    if (isSilent) location.ensembleOf(expected)._1 else Nil
  )

  private def textOf(e: Throwable): String = e match {
    case wrapped: CompletionException if wrapped.getCause != null => textOf(wrapped.getCause)
    case bk: BKException => (BKException.getMessage(bk.getCode) +: lease.value.tlsProblem.toSeq).mkString("; ")
    case other           => String.valueOf(other.getMessage)
  }

  private def releaseWindow(): Unit = {
    if (window != null) window.release()
    window = null
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

private[bookkeeper] object BookKeeperEntrySource {
  private val log = LoggerFactory.getLogger(classOf[BookKeeperEntrySource])

  /** Bytes of a window, and number of windows requested at a time: larger windows gain nothing and cost memory, smaller
    * ones cost requests.
    */
  private val WindowBytes = 1024L * 1024
  private val MaxWindows  = 4

  /** Limit of bytes in one response: a bookie's default (`maxBatchReadSize`). */
  private val MaxAnswerBytes = 5L * 1024 * 1024

  /** Timeout for resolving all host names. */
  private val LookUpTimeout = 2.seconds

  /** Entries of a window each of which is a request: bookies refuse more than some thousands at a time. */
  private val MaxSingles = 128

  /** Fails with [[SegmentUnreadable]], but for mistakes in options.
    *
    * @param patience
    *   how long an entry is waited for
    */
  def open(
      location: BookieLocation,
      segment: Segment,
      options: ReadOptions,
      patience: FiniteDuration,
      old: Recently[String] = OldBookies.ofThisJvm,
      names: HostNames = HostNames.ofThisJvm
  ): BookKeeperEntrySource = {
    def failed(e: Throwable) =
      throw new SegmentUnreadable(s"ledger ${segment.ledgerId}: BookKeeper's client does not open it (${e.getMessage})",
        e)
    val unknown = unresolved(location.bookies, options, names)
    unknown.foreach(BookieRanks.ofThisJvm.addSlow)
    if (unknown.nonEmpty && unknown.size == location.bookies.size)
      throw new SegmentUnreadable(
        s"ledger ${segment.ledgerId}: the host names of ${unknown.mkString(", ")} are not resolved",
        null,
        unknown
      )
    val lease =
      try BookKeeperPool.acquire(options.bookKeeper)
      catch { case NonFatal(e) if !e.isInstanceOf[PulsarError] => failed(e) }
    try {
      val source =
        new BookKeeperEntrySource(lease, handleOf(lease.value, location, segment), location, segment, options,
          patience, old)
      source.requestAhead()
      source
    } catch {
      case e: Throwable =>
        lease.close()
        if (NonFatal(e)) failed(e) else throw e
    }
  }

  /** Bookies whose host names are not resolved in time: BookKeeper's client would wait for them as long as it takes, on
    * the thread that reads.
    */
  private def unresolved(bookies: Seq[String], options: ReadOptions, names: HostNames): Seq[String] = {
    val until   = LookUpTimeout.fromNow
    val answers = bookies.flatMap(b =>
      BookieAddress.of(b, options.bookKeeper).map(address => b -> names.resolve(address))
    )
    answers.filter { case (_, answer) => isLate(answer, until.timeLeft.max(Duration.Zero)) }.map(_._1)
  }

  private def isLate(answer: CompletableFuture[_], patience: FiniteDuration): Boolean =
    try {
      answer.get(patience.toMillis, TimeUnit.MILLISECONDS)
      false
    } catch {
      case _: TimeoutException   => true
      case _: ExecutionException => false // it says so itself
    }

  private def handleOf(
      reader: BookKeeperReader,
      location: BookieLocation,
      segment: Segment
  ): CompletableFuture[ReadHandle] = {
    reader.ledgers.add(segment.ledgerId, location, segment.last)
    reader.client.newOpenLedgerOp
      .withLedgerId(segment.ledgerId)
      .withRecovery(false)
      .withDigestType(DigestType.valueOf(location.digestType))
      .withPassword(InMemoryLedgerMetadata.NoPassword)
      .execute()
      .whenComplete((_, _) => reader.ledgers.remove(segment.ledgerId))
  }

  /** True if the bookies did not respond; false if they responded with an error. */
  @annotation.tailrec
  private def isSilent(e: Throwable): Boolean = e match {
    case wrapped: CompletionException if wrapped.getCause != null => isSilent(wrapped.getCause)
    case bk: BKException                                          => Silence(bk.getCode)
    case _                                                        => false
  }

  private val Silence = Set(BKException.Code.BookieHandleNotAvailableException, BKException.Code.TimeoutException)
}
