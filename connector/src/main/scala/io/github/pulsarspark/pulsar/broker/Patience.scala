package io.github.pulsarspark.pulsar.broker

import java.util.concurrent.TimeUnit

import scala.concurrent.duration.FiniteDuration

import io.github.pulsarspark.pulsar.feed.FeedTimes

/** Timeouts of a reader that waits for the next expected entry. A feed that stays silent is replaced: a broker may
  * forget a consumer that subscribes while the topic is unloaded, which then gets stale responses and no entries. The
  * silence timeout doubles with each replacement, for slow brokers, until the whole wait ends.
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

  /** Time to wait for an entry now, in milliseconds, before the broker's bounds are requested. */
  def nextMillis(): Long = {
    val most = if (isFresh) silence else deadline - nanos()
    isFresh = false
    math.min(TimeUnit.NANOSECONDS.toMillis(most), SecondLookMillis)
  }

  /** True if the feed has been silent for its timeout and is to be replaced. The next one has twice as long. */
  def isSilent(): Boolean = {
    val result = nanos() - silentSince >= silence
    if (result) silence *= 2
    result
  }

  def isOver: Boolean = TimeUnit.NANOSECONDS.toMillis(deadline - nanos()) <= 0

  /** True if the feed may be opened again; counts the attempt. The first `MaxReopened` attempts are always allowed. */
  def mayReopen(): Boolean = {
    reopened += 1
    reopened <= MaxReopened || nanos() - began <= longest.toNanos
  }
}
