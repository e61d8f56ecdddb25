package io.github.pulsarspark.pulsar.producer

import java.util.concurrent.TimeUnit
import java.util.concurrent.locks.ReentrantLock

import io.netty.util.Timer

import io.github.pulsarspark.common.BlockingParallel
import io.github.pulsarspark.schema.columns.OutgoingMessage

/** An outbox that keeps messages for others to join them, but not for long. */
private[producer] trait WaitingOutbox extends Outbox {

  /** True if messages may be buffered here. */
  def isWaiting: Boolean

  /** Time at which the first buffered message has to be sent, by `System.nanoTime`. Meaningful only if messages are
    * buffered.
    */
  def dueAt: Long

  /** Hands over the messages whose publish delay is over. */
  def sendDue(): Unit
}

/** Sends due messages when the task has no further row, by a timer that runs while messages wait. The task and the
  * timer take turns. A failure in the timer's turn fails the task's next call.
  *
  * @param later
  *   runs something after this many nanoseconds, on a thread that must not wait
  * @param elsewhere
  *   runs something on a thread that may wait
  * @param nanos
  *   the clock, as `System.nanoTime`
  */
private[producer] final class TimedOutbox(
    outbox: WaitingOutbox,
    acknowledgements: Acknowledgements,
    later: (Runnable, Long) => Unit,
    elsewhere: Runnable => Unit,
    nanos: () => Long = () => System.nanoTime()
) extends Outbox {
  import TimedOutbox._

  private val turn = new ReentrantLock

  private var isArmed             = false // the timer runs; guarded by the turn
  @volatile private var isGivenUp = false

  /** Takes its turn. A task that is killed while the timer waits for the client's queue stops at once. */
  override def send(message: OutgoingMessage): Unit = {
    turn.lockInterruptibly()
    try {
      outbox.send(message)
      if (!isArmed && outbox.isWaiting) arm()
    } finally turn.unlock()
  }

  override def flush(): Unit = {
    turn.lockInterruptibly()
    try outbox.flush()
    finally turn.unlock()
  }

  /** Discards the messages without waiting. If the timer has the turn, it discards the rest. */
  override def discard(): Unit = {
    isGivenUp = true
    if (turn.tryLock())
      try outbox.discard()
      finally turn.unlock()
  }

  private def arm(): Unit = {
    isArmed = true
    later(() => look(), Math.max(0L, outbox.dueAt - nanos()))
  }

  /** Checks for due messages. Usually the next row has already sent them. */
  private def look(): Unit =
    if (!turn.tryLock()) later(() => look(), RetryNanos)
    else
      try
        if (!outbox.isWaiting) isArmed = false
        else if (outbox.dueAt - nanos() > 0) arm()
        else elsewhere(() => sendDue())
      finally turn.unlock()

  private def sendDue(): Unit = {
    turn.lock()
    try {
      isArmed = false
      if (!isGivenUp) outbox.sendDue()
      if (outbox.isWaiting) arm()
    } catch { case e: Throwable => acknowledgements.fail(e) } // no other thread waits for it
    finally turn.unlock()
    if (isGivenUp) discard()
  }
}

private[producer] object TimedOutbox {

  /** The task sends a row, or waits for the client's queue. */
  private val RetryNanos = TimeUnit.MILLISECONDS.toNanos(1)

  /** Threads that wait for the queues of producers, which the client's own threads empty. */
  private lazy val threads = new BlockingParallel("pulsar-publish", 16)

  /** @param timer
    *   of the client
    */
  def apply(outbox: WaitingOutbox, acknowledgements: Acknowledgements, timer: Timer): TimedOutbox = new TimedOutbox(
    outbox,
    acknowledgements,
    (work, delay) => { timer.newTimeout(_ => work.run(), delay, TimeUnit.NANOSECONDS); () },
    work => { threads.start(() => work.run()); () }
  )
}
