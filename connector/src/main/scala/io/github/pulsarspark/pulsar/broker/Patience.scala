package io.github.pulsarspark.pulsar.broker

import java.util.concurrent.TimeUnit

import scala.concurrent.duration.FiniteDuration

import io.github.pulsarspark.pulsar.feed.FeedTimes

/** How long a reader waits for an entry that is due. A feed that sends nothing for a while is replaced, because a
  * broker may forget a consumer that subscribes while the topic is unloaded: it answers what it knew then, and sends
  * nothing. A broker that is slow has twice as long each time, until the wait is over.
  *
  * @param longest
  *   the wait
  * @param nanos
  *   the clock
  */
private[broker] final class Patience(longest: FiniteDuration, nanos: () => Long = () => System.nanoTime()) {
  import FeedTimes._

  private val firstSilence = math.min(SilentNanos, longest.toNanos / 4)

  private var silence     = firstSilence // before the feed is replaced
  private var began       = 0L           // the wait
  private var silentSince = 0L
  private var deadline    = 0L
  private var isFresh     = true         // not polled since then
  private var reopened    = 0            // times in this wait

  /** The wait for the next entry begins. */
  def begin(): Unit = {
    began = nanos()
    silence = firstSilence
    reopened = 0
    listen(began)
  }

  /** The wait goes on with another feed, or after an entry that does not count. */
  def goOn(): Unit = listen(nanos())

  private def listen(now: Long): Unit = {
    silentSince = now
    deadline = (if (silence == firstSilence) now else began) + longest.toNanos
    isFresh = true
  }

  /** How long to wait for an entry now, before a look at what the broker answers. */
  def nextMillis(): Long = {
    val most = if (isFresh) silence else deadline - nanos()
    isFresh = false
    math.min(TimeUnit.NANOSECONDS.toMillis(most), SecondLookMillis)
  }

  /** Whether the feed has sent nothing for so long that another one is to replace it, which has longer. */
  def isSilent(): Boolean = {
    val result = nanos() - silentSince >= silence
    if (result) silence *= 2
    result
  }

  def isOver: Boolean = TimeUnit.NANOSECONDS.toMillis(deadline - nanos()) <= 0

  /** Whether the feed may be opened again, which is counted: several times in any case. */
  def mayReopen(): Boolean = {
    reopened += 1
    reopened <= MostReopened || nanos() - began <= longest.toNanos
  }
}
