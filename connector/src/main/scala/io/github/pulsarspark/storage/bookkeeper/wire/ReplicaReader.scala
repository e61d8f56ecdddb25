package io.github.pulsarspark.storage.bookkeeper.wire

import java.util.ArrayDeque

import io.netty.buffer.ByteBuf

import io.github.pulsarspark.storage.bookkeeper.ReadAhead

/** Consecutive entries of a ledger from one bookie that has them all. Some windows of entries are asked for ahead; what an answer lacks is asked for again.
  *
  * @param socket
  *   closed with this
  */
private[wire] final class ReplicaReader(
    socket: BookieSocket,
    ledgerId: Long,
    first: Long,
    last: Long,
    digest: EntryDigest,
    ahead: ReadAhead
) extends AutoCloseable {
  import ReplicaReader._

  private val asked    = new ArrayDeque[Window] // in the order of their entries, like the answers unless something was asked for again
  private var toAsk    = first
  private var requests = 0L
  private var expected = first
  private var answer: ReadAnswer = _

  askAhead()

  def isDone: Boolean = expected > last

  /** The payload of the entry that came last. */
  def entry: ByteBuf = answer.entry

  /** Moves to the next entry; not called when this is done. */
  def next(): Unit = {
    while (answer == null || !answer.next(ledgerId, expected, digest)) {
      releaseAnswer()
      answer = take()
    }
    expected += 1
    ahead.came(answer.entry.readableBytes)
  }

  private def take(): ReadAnswer = {
    val following = asked.peek()
    if (following == null || following.first > expected)
      asked.push(ask(expected, if (following == null) toAsk - 1 else following.first - 1))
    val window = asked.peek()
    while (window.answer == null) receive()
    asked.poll()
    askAhead()
    window.answer
  }

  private def receive(): Unit = {
    val answer = new ReadAnswer(socket.receive())
    try {
      answer.check()
      val window = asked.stream.filter(w => w.requestId == answer.requestId && w.answer == null).findFirst
      window.orElseThrow(() => new ReplicaFailed("it answers what was not asked", isSlow = false)).answer = answer
    } catch {
      case e: ReplicaFailed =>
        answer.release()
        throw e
    }
  }

  private def askAhead(): Unit = while (asked.size < ahead.windows && toAsk <= last) {
    val window = ask(toAsk, ahead.lastOfWindow(toAsk, last))
    asked.add(window)
    toAsk = window.last + 1
  }

  private def ask(from: Long, to: Long): Window = {
    requests += 1
    socket.ask(ledgerId, from, requests, (to - from + 1).toInt, ReadAhead.MostAnswerBytes)
    new Window(requests, from, to)
  }

  private def releaseAnswer(): Unit = if (answer != null) {
    answer.release()
    answer = null
  }

  override def close(): Unit =
    try {
      releaseAnswer()
      asked.forEach(window => if (window.answer != null) window.answer.release())
    } finally socket.close()
}

private[wire] object ReplicaReader {

  private final class Window(val requestId: Long, val first: Long, val last: Long) {
    var answer: ReadAnswer = _
  }
}
