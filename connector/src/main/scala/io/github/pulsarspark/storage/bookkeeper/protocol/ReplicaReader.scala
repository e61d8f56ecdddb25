package io.github.pulsarspark.storage.bookkeeper.protocol

import java.util.ArrayDeque

import scala.concurrent.duration.FiniteDuration

import io.netty.buffer.ByteBuf

import io.github.pulsarspark.storage.bookkeeper.bookies.ReadAhead

/** Consecutive entries of a ledger from one bookie that has them all. Some windows of entries are requested ahead;
  * entries that a response lacks are requested again.
  *
  * @param stall
  *   how long the bookie may be silent when an entry is waited for
  * @param deadline
  *   of the wait that begins, by `System.nanoTime`
  */
private[protocol] final class ReplicaReader(
    connection: WireConnection,
    ledgerId: Long,
    first: Long,
    last: Long,
    digest: EntryDigest,
    ahead: ReadAhead,
    stall: FiniteDuration,
    deadline: () => Long
) extends AutoCloseable {

  private val pending            = new ArrayDeque[PendingRead] // in the order of their entries
  private var nextToRequest      = first
  private var expected           = first
  private var answer: ReadAnswer = _

  def isDone: Boolean = expected > last

  /** The payload of the last entry. */
  def entry: ByteBuf = answer.entry

  /** Moves to the next entry; not called when this is done. */
  def next(): Unit = {
    while (answer == null || !answer.next(ledgerId, expected, digest)) {
      releaseAnswer()
      answer = take()
      requestAhead()
      answer.check()
    }
    expected += 1
    ahead.received(answer.entry.readableBytes)
  }

  /** Requests the following entries before they are needed. */
  def requestAhead(): Unit = while (pending.size < ahead.windows && nextToRequest <= last) {
    val window = connection.request(ledgerId, nextToRequest, ahead.lastOfWindow(nextToRequest, last))
    pending.add(window)
    nextToRequest = window.last + 1
  }

  private def take(): ReadAnswer = {
    val following = pending.peek()
    if (following == null || following.first > expected) {
      val end = if (following == null) nextToRequest - 1 else following.first - 1
      pending.push(connection.request(ledgerId, expected, ahead.lastOfWindow(expected, end)))
    }
    val answer = connection.await(pending.peek(), stall, deadline())
    pending.poll()
    answer
  }

  private def releaseAnswer(): Unit = if (answer != null) {
    answer.release()
    answer = null
  }

  override def close(): Unit = {
    releaseAnswer()
    pending.forEach(connection.abandon(_))
    pending.clear()
  }
}
