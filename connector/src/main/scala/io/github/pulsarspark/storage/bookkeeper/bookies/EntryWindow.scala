package io.github.pulsarspark.storage.bookkeeper.bookies

import java.util.concurrent.{CompletableFuture, TimeUnit, TimeoutException}

import scala.jdk.CollectionConverters._

import org.apache.bookkeeper.client.api.{LedgerEntries, LedgerEntry, ReadHandle}

/** Consecutive entries of a ledger that are requested together. A bookie returns as many of them as fit its limits, so
  * the rest is requested until nothing is missing. If entries turn out so large that the memory for one response is
  * full, the window ends early. No request goes beyond `last`: batch reads do not stop by themselves at the end of a
  * ledger that is being written.
  *
  * One thread uses a window; responses arrive on the client's threads.
  *
  * @param handle
  *   of the ledger, which may still be opening
  */
private[bookkeeper] final class EntryWindow private (
    handle: CompletableFuture[ReadHandle],
    val first: Long,
    val last: Long,
    how: EntryWindow.Reads
) {

  private val parts   = new java.util.ArrayDeque[LedgerEntries] // its monitor guards isReleased, too
  private val arrived = new CompletableFuture[Void]

  @volatile private var requestedAt                    = System.nanoTime()
  @volatile private var arrivedTo                      = first - 1
  private var arrivedBytes                             = 0L // of the client's threads, one after the other
  private var isReleased                               = false
  private var opened: LedgerEntries                    = _
  private var entries: java.util.Iterator[LedgerEntry] = java.util.Collections.emptyIterator[LedgerEntry]()

  def isBatch: Boolean = how != EntryWindow.Single

  /** Waits until every entry is there; fails with BookKeeper's exception, and when no response arrived so long after it
    * was requested.
    */
  @annotation.tailrec
  def await(millis: Long): Unit = {
    val requested = requestedAt
    val left      = requested + TimeUnit.MILLISECONDS.toNanos(millis) - System.nanoTime()
    val isHere    =
      try {
        arrived.get(math.max(0L, left), TimeUnit.NANOSECONDS)
        true
      } catch { case _: TimeoutException if requestedAt != requested => false }
    if (!isHere) await(millis)
  }

  /** The last entry received; less than `last` in a window that ended early. */
  def reached: Long = arrivedTo

  /** The next entry, valid until the next call or [[release]]; null after the last one. */
  def next(): LedgerEntry = {
    while (!entries.hasNext) {
      closeOpened()
      opened = parts.synchronized(parts.poll())
      if (opened == null) return null
      entries = opened.iterator
    }
    entries.next()
  }

  /** Frees the memory of received entries, and that of a later response when it arrives, which may be never. Sends no
    * more requests.
    */
  def release(): Unit = {
    closeOpened()
    parts.synchronized {
      isReleased = true
      while (!parts.isEmpty) parts.poll().close()
    }
  }

  private def closeOpened(): Unit = if (opened != null) {
    opened.close()
    opened = null
    entries = java.util.Collections.emptyIterator[LedgerEntry]()
  }

  private def request(from: Long): Unit = {
    requestedAt = System.nanoTime()
    handle.thenCompose[LedgerEntries](how.read(_, from, last)).whenComplete { (answer, failure) =>
      if (failure != null) arrived.completeExceptionally(failure)
      else {
        answer.iterator.asScala.foreach { entry =>
          arrivedTo = entry.getEntryId
          arrivedBytes += entry.getEntryBuffer.readableBytes
        }
        if (keep(answer)) goOn(from)
      }
      ()
    }
    ()
  }

  /** False if it was released. */
  private def keep(answer: LedgerEntries): Boolean = parts.synchronized {
    if (isReleased) answer.close() else parts.add(answer)
    !isReleased
  }

  private def goOn(from: Long): Unit =
    if (arrivedTo < from)
      arrived.completeExceptionally(new IllegalStateException(s"the bookie's answer to a read of entry $from is empty"))
    else if (arrivedTo >= last || arrivedBytes >= how.maxBytes) arrived.complete(null)
    else request(arrivedTo + 1)
}

private[bookkeeper] object EntryWindow {

  /** Request for entries: one for many entries, or one for each. */
  sealed trait Reads {

    /** Limit of bytes in one response. */
    def maxBytes: Long
    def read(handle: ReadHandle, first: Long, last: Long): CompletableFuture[LedgerEntries]
  }

  /** Requests many entries at once. */
  final case class Batch(maxBytes: Long) extends Reads {
    override def read(handle: ReadHandle, first: Long, last: Long): CompletableFuture[LedgerEntries] =
      handle.batchReadAsync(first, (last - first + 1).toInt, maxBytes)
  }

  /** Requests each entry by itself. */
  case object Single extends Reads {
    override def maxBytes: Long                                                                      = Long.MaxValue
    override def read(handle: ReadHandle, first: Long, last: Long): CompletableFuture[LedgerEntries] =
      handle.readAsync(first, last)
  }

  /** Requests the entries; they are on their way when this returns. */
  def request(handle: CompletableFuture[ReadHandle], first: Long, last: Long, how: Reads): EntryWindow = {
    val window = new EntryWindow(handle, first, last, how)
    window.request(first)
    window
  }
}
