package io.github.pulsarspark.storage.bookkeeper.protocol

import java.util.ArrayDeque

import scala.concurrent.duration.FiniteDuration

import io.netty.buffer.ByteBuf

import io.github.pulsarspark.storage.bookkeeper.bookies.ReadAhead

/** Consecutive entries of a ledger from one bookie that has them all. Some windows of entries are requested ahead; what
  * an answer lacks is requested again.
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

  private val asked              = new ArrayDeque[PendingRead] // in the order of their entries
  private var toAsk              = first
  private var expected           = first
  private var answer: ReadAnswer = _

  def isDone: Boolean = expected > last

  /** The payload of the entry that came last. */
  def entry: ByteBuf = answer.entry

  /** Moves to the next entry; not called when this is done. */
  def next(): Unit = {
    while (answer == null || !answer.next(ledgerId, expected, digest)) {
      releaseAnswer()
      answer = take()
      askAhead()
      answer.check()
    }
    expected += 1
    ahead.came(answer.entry.readableBytes)
  }

  /** Requests what comes next, so that it is on its way before it is needed. */
  def askAhead(): Unit = while (asked.size < ahead.windows && toAsk <= last) {
    val window = connection.ask(ledgerId, toAsk, ahead.lastOfWindow(toAsk, last))
    asked.add(window)
    toAsk = window.last + 1
  }

  private def take(): ReadAnswer = {
    val following = asked.peek()
    if (following == null || following.first > expected) {
      val end = if (following == null) toAsk - 1 else following.first - 1
      asked.push(connection.ask(ledgerId, expected, ahead.lastOfWindow(expected, end)))
    }
    val answer = connection.await(asked.peek(), stall, deadline())
    asked.poll()
    answer
  }

  private def releaseAnswer(): Unit = if (answer != null) {
    answer.release()
    answer = null
  }

  override def close(): Unit = {
    releaseAnswer()
    asked.forEach(connection.abandon(_))
    asked.clear()
  }
}
