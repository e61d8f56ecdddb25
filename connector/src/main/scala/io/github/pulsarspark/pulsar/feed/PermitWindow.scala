package io.github.pulsarspark.pulsar.feed

/** How much the broker may send ahead of a task. Pulsar counts messages, memory is bytes: the bound in messages follows
  * the average size seen so far.
  */
private[pulsar] final class PermitWindow(bytes: Long, messages: Int) {
  import PermitWindow._

  private var target               = first
  private var outstanding          = first
  private var session: Option[Int] = None
  private var seenBytes            = 0L
  private var seen                 = 0L

  /** Messages to request before their size is known. */
  def first: Int = math.min(First, messages)

  /** Messages that may be on their way or waiting to be taken. */
  def size: Int = target

  /** A consumer that is opened anew is allowed [[first]]. */
  def restart(): Unit = session = None

  /** Call for each entry taken: allows as many messages more as keeps the read-ahead full, in portions. */
  def refill(feed: EntryFeed, taken: EntryFeed.Entry): Unit = {
    seenBytes += taken.buffer.readableBytes
    seen += taken.messages
    if (!session.contains(taken.session)) { // what an older session was allowed went with it
      session = Some(taken.session)
      outstanding = first
    }
    outstanding -= taken.messages
    target = math.max(1L, math.min(messages.toLong, bytes * seen / math.max(1L, seenBytes))).toInt
    if (outstanding <= target / 2) {
      feed.grant(taken, target - outstanding)
      outstanding = target
    }
  }
}

private[pulsar] object PermitWindow {
  private val First = 16
}
