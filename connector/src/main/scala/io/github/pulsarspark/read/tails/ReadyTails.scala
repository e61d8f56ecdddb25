package io.github.pulsarspark.read.tails

import java.util.Comparator
import java.util.concurrent.{PriorityBlockingQueue, TimeUnit}
import java.util.concurrent.atomic.{AtomicBoolean, AtomicInteger, AtomicLong}

/** The tails of a task that may have something, in the order in which it came. Tails with new messages pass others that
  * read a backlog, but only some of them, so that a backlog is read as well. One thread takes, any thread adds.
  *
  * A tail is in it once. It may be added again as soon as it is taken, so what arrives while its reader looks is not
  * missed.
  *
  * @param isBehind
  *   whether a tail reads a backlog
  */
private[tails] final class ReadyTails[A](isBehind: A => Boolean) {
  import ReadyTails._

  private val ready = new PriorityBlockingQueue[Entry[A]](
    Capacity,
    Comparator.comparingLong[Entry[A]](_.place).thenComparingLong(_.number)
  )
  private val added     = new AtomicLong
  private val addedLive = new AtomicLong
  private val live      = new AtomicInteger

  /** Registers a tail, which is not ready yet. */
  def entry(tail: A): Entry[A] = new Entry(tail, add)

  private def add(entry: Entry[A]): Unit = {
    entry.number = added.incrementAndGet()
    entry.isLive = !isBehind(entry.tail)
    entry.place = if (entry.isLive) addedLive.incrementAndGet() else addedLive.get + MostInFront
    if (entry.isLive) live.incrementAndGet()
    ready.add(entry)
    ()
  }

  /** True if a tail with new messages waits. */
  def hasLive: Boolean = live.get > 0

  /** Takes the first one; None if there is none until the time is over. */
  def poll(nanos: Long): Option[Entry[A]] = {
    val result = Option(ready.poll(nanos, TimeUnit.NANOSECONDS))
    result.foreach { entry =>
      if (entry.isLive) live.decrementAndGet()
      entry.taken()
    }
    result
  }
}

private[tails] object ReadyTails {

  /** Number of tails with new messages that pass one with a backlog. */
  val MostInFront = 16

  private val Capacity = 16

  /** One of the tails. */
  final class Entry[A](val tail: A, enqueue: Entry[A] => Unit) extends Runnable {
    private val isListed = new AtomicBoolean

    // where it is in the queue; written before it is added
    private[ReadyTails] var number = 0L
    private[ReadyTails] var place  = 0L
    private[ReadyTails] var isLive = false

    /** Adds the tail unless it is there. */
    override def run(): Unit = if (isListed.compareAndSet(false, true)) enqueue(this)

    private[ReadyTails] def taken(): Unit = isListed.set(false)
  }
}
