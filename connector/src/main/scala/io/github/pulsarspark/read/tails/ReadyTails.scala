package io.github.pulsarspark.read.tails

import java.util.concurrent.{LinkedBlockingQueue, TimeUnit}
import java.util.concurrent.atomic.AtomicBoolean

/** The tails of a task that may have something, in the order in which it came. One thread takes, any thread adds.
  *
  * A tail is in it once. It may be added again as soon as it is taken, so what arrives while its reader looks is not
  * missed.
  */
private[tails] final class ReadyTails[A] {
  import ReadyTails._

  private val ready = new LinkedBlockingQueue[Entry[A]]

  /** Registers a tail, which is not ready yet. */
  def entry(tail: A): Entry[A] = new Entry(tail, ready.add(_))

  /** Takes the first one; None if there is none until the time is over. */
  def poll(nanos: Long): Option[Entry[A]] = {
    val result = Option(ready.poll(nanos, TimeUnit.NANOSECONDS))
    result.foreach(_.taken())
    result
  }
}

private[tails] object ReadyTails {

  /** One of the tails. */
  final class Entry[A](val tail: A, enqueue: Entry[A] => Unit) extends Runnable {
    private val isListed = new AtomicBoolean

    /** Adds the tail unless it is there. */
    override def run(): Unit = if (isListed.compareAndSet(false, true)) enqueue(this)

    private[ReadyTails] def taken(): Unit = isListed.set(false)
  }
}
