package io.github.pulsarspark.storage.bookkeeper.protocol

import java.util.ArrayDeque

import scala.concurrent.duration.FiniteDuration

import io.github.pulsarspark.storage.bookkeeper.protocol.WireConnection._

/** A request for consecutive entries of a bookie, and its response once it has arrived.
  *
  * @param requestId
  *   unique in its connection
  */
private[protocol] final class PendingRead(val requestId: Long, val ledgerId: Long, val first: Long, val last: Long) {
  private[protocol] var answer: ReadAnswer   = _
  private[protocol] var isAbandoned: Boolean = false
}

/** A connection of a task to a bookie, shared by the slices of the task: while one of them waits for its response,
  * responses to the others are kept for them. Used by one thread.
  *
  * @param isBatch
  *   whether the bookie is sent batch reads; else each read is of one entry
  * @param answered
  *   called for each response with entries
  */
private[protocol] final class WireConnection(socket: BookieSocket, val isBatch: Boolean, answered: () => Unit)
    extends AutoCloseable {

  private val pending     = new ArrayDeque[PendingRead] // in the order of requests, which mostly is that of responses
  private var requests    = 0L
  private var hasAnswered = false
  private var lost: Option[Throwable] = None

  /** True if the connection accepts no more requests. Pending ones get no response. */
  def isLost: Boolean = lost.nonEmpty

  /** True if the bookie closed the connection without any response. */
  def wasRefused: Boolean = !hasAnswered && lost.exists(_.isInstanceOf[ConnectionEnded])

  /** Requests the entries; a single one unless this [[isBatch]]. */
  def request(ledgerId: Long, first: Long, last: Long): PendingRead = use {
    requests += 1
    val read = new PendingRead(requests, ledgerId, first, last)
    socket.send { to =>
      if (isBatch) ReadRequest.writeBatch(to, ledgerId, first, requests, (last - first + 1).toInt, MaxAnswerBytes)
      else ReadRequest.writeSingle(to, ledgerId, first)
    }
    pending.add(read)
    read
  }

  /** Waits for the response. The caller releases it.
    *
    * @param stall
    *   how long the bookie may be silent
    * @param until
    *   the deadline, by `System.nanoTime`
    */
  def await(read: PendingRead, stall: FiniteDuration, until: Long): ReadAnswer = {
    if (read.answer == null) use {
      socket.startWaiting()
      while (read.answer == null) deliver(new ReadAnswer(socket.receive(stall, until), isBatch))
    }
    val answer = read.answer
    read.answer = null
    answer
  }

  /** The response is not needed any more. */
  def abandon(read: PendingRead): Unit = {
    read.isAbandoned = true
    if (read.answer != null) read.answer.release()
    read.answer = null
  }

  private def deliver(answer: ReadAnswer): Unit =
    try {
      if (!answer.isFormed) throw ReadAnswer.malformed
      val read = take(answer)
      hasAnswered = true
      if (answer.hasEntries) answered()
      if (read.isAbandoned) answer.release() else read.answer = answer
    } catch {
      case e: ReplicaFailed =>
        answer.release()
        throw e
    }

  /** Removes and returns the read to which the response belongs. */
  private def take(answer: ReadAnswer): PendingRead = {
    val reads = pending.iterator
    while (reads.hasNext) {
      val read = reads.next()
      if (answer.answers(read)) {
        reads.remove()
        return read
      }
    }
    throw new ReplicaFailed("it sent a response that was not requested", isSlow = false)
  }

  /** Runs `work`. After any failure the position in the stream is unknown, so it closes the connection. */
  private def use[A](work: => A): A = {
    lost.foreach(why => throw new ConnectionEnded(s"the connection was given up: ${why.getMessage}"))
    try work
    catch {
      case e: Throwable =>
        lost = Some(e)
        close()
        throw e
    }
  }

  override def close(): Unit = {
    pending.clear()
    socket.close()
  }
}

private[protocol] object WireConnection {

  /** Limit of bytes in one response, unless a single entry is larger. Windows are chosen by the average size of
    * entries; this bounds the memory if they are larger.
    */
  private val MaxAnswerBytes = 1024L * 1024
}
