package io.github.pulsarspark.pulsar.feed

/** Decides how many permits a task grants to the broker. Pulsar counts messages, memory is bytes: the number of
  * messages on their way follows the size of the messages taken recently, and leaves room for the queue. It starts
  * small, until the first sizes are known.
  *
  * Sizes may jump, and permits cannot be taken back, so this is not a bound on memory. That is
  * [[PermitWindow.mostWaiting]]. A feed that ended early may have met it. So the feed in its place gets one message at
  * a time until an entry is taken: each feed gets further than the one before.
  *
  * @param bytes
  *   limit of bytes on their way or in the queue
  * @param messages
  *   limit of messages on their way or in the queue
  */
private[pulsar] final class PermitWindow(bytes: Long, messages: Int) {
  import PermitWindow._

  private val recent               = new AverageSize(0.9)
  private val longer               = new AverageSize(0.99)
  private var opened               = first           // what the consumer may send in a new session
  private var target               = opened
  private var outstanding          = opened.toLong
  private var session: Option[Int] = None
  private var isNarrow             = false
  private var read                 = 0L              // messages since the reader waited for a task
  private var limit                = messages.toLong // of messages on their way, which grows with `read`

  /** Messages to request at first. */
  def first: Int =
    if (isNarrow) 1 else math.max(1L, math.min(math.min(InitialPermits, messages).toLong, bytes / size)).toInt

  /** Messages that may be on their way or waiting to be taken. */
  def most: Int = target

  /** Resets the permits: a new consumer starts with [[first]]. */
  def restart(): Unit = {
    opened = first
    session = None
  }

  /** A feed ended early: the next one gets one message at a time until an entry is taken. */
  def narrow(): Unit = isNarrow = true

  /** The reader waits for its next task: it is allowed about twice as many messages as its last task took. Permits
    * cannot be taken back, so none are granted until so many have arrived.
    */
  def rest(): Unit = {
    limit = math.max(RestingBytes / size, math.max(InitialPermits.toLong, 2 * read))
    target = math.min(target.toLong, limit).toInt
    read = 0
  }

  /** Call for each entry taken. */
  def take(feed: EntryFeed, taken: EntryFeed.Entry): Unit = {
    isNarrow = false
    refill(feed, taken)
  }

  /** Call for each entry that is done: allows as many messages more as keeps the read-ahead full, in portions. */
  def refill(feed: EntryFeed, taken: EntryFeed.Entry): Unit = {
    recent.add(taken.buffer.readableBytes, taken.messages)
    longer.add(taken.buffer.readableBytes, taken.messages)
    if (!session.contains(taken.session)) { // what an older session was allowed went with it
      session = Some(taken.session)
      outstanding = opened.toLong
      target = opened
    }
    read += taken.messages
    outstanding -= taken.messages // below 0 where a batch has more than was allowed: the broker counts so too
    if (outstanding <= target / 2) {
      val next = wanted(feed)
      if (next > outstanding) {
        target = next
        feed.grant(taken, (next - outstanding).toInt)
        outstanding = next.toLong
      }
    }
  }

  private def wanted(feed: EntryFeed): Int =
    if (isNarrow) 1
    else {
      val waiting = math.max(0L, math.min(feed.queuedMessages.toLong, outstanding))
      val most    = math.min(messages.toLong, math.max(limit, 4 * read))
      PermitWindow.wanted(bytes - feed.queuedBytes, size, waiting, most)
    }

  private def size: Long = math.max(1L, math.max(recent.bytes, longer.bytes))
}

private[pulsar] object PermitWindow {

  /** Initial permits: about one dispatch of large messages. */
  private val InitialPermits = 4

  /** Bytes that a reader that waits may be sent in any case, so that it seldom grants permits. */
  private val RestingBytes = 64L << 10

  /** Limit of bytes in the queue; more end the consumer. It is twice the read-ahead, as the sizes of messages vary. */
  def mostWaiting(readAheadBytes: Long): Long = readAheadBytes * 2

  /** Messages that may be on their way or waiting: those that wait, and what `room` bytes hold. One at least.
    *
    * @param size
    *   of a message
    * @param most
    *   messages, whatever their size
    */
  private[feed] def wanted(room: Long, size: Long, waiting: Long, most: Long): Int =
    math.max(1L, math.min(most, waiting + math.max(0L, room) / size)).toInt
}

/** The average size of messages, in which an entry counts by `fades` less with each that follows. */
private final class AverageSize(fades: Double) {
  private var sum   = 0.0
  private var count = 0.0

  def add(bytes: Int, messages: Int): Unit = {
    sum = sum * fades + bytes
    count = count * fades + messages
  }

  /** Average size in bytes; 0 before the first entry. */
  def bytes: Long = if (count == 0) 0L else (sum / count).toLong
}
