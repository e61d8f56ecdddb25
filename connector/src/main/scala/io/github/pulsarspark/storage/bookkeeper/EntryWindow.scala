package io.github.pulsarspark.storage.bookkeeper

import java.util.concurrent.{CompletableFuture, TimeUnit, TimeoutException}

import scala.jdk.CollectionConverters._

import org.apache.bookkeeper.client.api.{LedgerEntries, LedgerEntry, ReadHandle}

/** Some consecutive entries of a ledger that were asked for together. A bookie answers with as many of them as fit its limits, so the rest is asked for as long as
  * something is missing, unless entries turn out so large that one answer's worth of memory is full: then the window ends early. Nothing beyond `last` is ever asked for: batch reads do not stop at the end of a ledger that is being written by themselves.
  *
  * @param handle
  *   of the ledger, which may still be opening
  * @param maxBytes
  *   of one answer
  */
private[bookkeeper] final class EntryWindow(handle: CompletableFuture[ReadHandle], val first: Long, val last: Long, maxBytes: Long) {

  private val parts   = new java.util.ArrayDeque[LedgerEntries]
  private val arrived = new CompletableFuture[Void]

  @volatile private var askedAt                        = System.nanoTime()
  @volatile private var arrivedTo                      = first - 1
  private var arrivedBytes                             = 0L
  private var opened: LedgerEntries                    = _
  private var entries: java.util.Iterator[LedgerEntry] = java.util.Collections.emptyIterator[LedgerEntry]()

  ask(first)

  /** Waits until every entry is there; fails with BookKeeper's exception, and when no answer came so long after it was asked for. */
  @annotation.tailrec
  def await(millis: Long): Unit = {
    val asked  = askedAt
    val left   = asked + TimeUnit.MILLISECONDS.toNanos(millis) - System.nanoTime()
    val isHere =
      try {
        arrived.get(math.max(0L, left), TimeUnit.NANOSECONDS)
        true
      } catch { case _: TimeoutException if askedAt != asked => false }
    if (!isHere) await(millis)
  }

  /** The last entry that came; less than `last` in a window that ended early. */
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

  /** Gives the memory back, also of answers that are still to come. */
  def release(): Unit = {
    closeOpened()
    arrived.whenComplete((_, _) => parts.synchronized(while (!parts.isEmpty) parts.poll().close()))
    ()
  }

  private def closeOpened(): Unit = if (opened != null) {
    opened.close()
    opened = null
  }

  private def ask(from: Long): Unit = {
    askedAt = System.nanoTime()
    val asked = handle.thenCompose[LedgerEntries](_.batchReadAsync(from, (last - from + 1).toInt, maxBytes))
    asked.whenComplete { (answer, failure) =>
      if (failure != null) arrived.completeExceptionally(failure)
      else {
        answer.iterator.asScala.foreach { entry =>
          arrivedTo = entry.getEntryId
          arrivedBytes += entry.getEntryBuffer.readableBytes
        }
        parts.synchronized(parts.add(answer))
        if (arrivedTo < from)
          arrived.completeExceptionally(new IllegalStateException(s"the bookie's answer to a read of entry $from is empty"))
        else if (arrivedTo >= last || arrivedBytes >= maxBytes) arrived.complete(null)
        else ask(arrivedTo + 1)
      }
      ()
    }
    ()
  }
}
