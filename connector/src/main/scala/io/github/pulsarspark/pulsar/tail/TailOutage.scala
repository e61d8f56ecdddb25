package io.github.pulsarspark.pulsar.tail

import java.util.concurrent.TimeUnit

import scala.concurrent.duration.FiniteDuration

import io.github.pulsarspark.pulsar.feed.FeedTimes

/** Times of a tail whose broker does not respond, or whose feed breaks again and again. It rests between two attempts,
  * and gives up after the longest outage.
  *
  * @param longest
  *   the outage
  * @param nanos
  *   the clock
  */
private[tail] final class TailOutage(longest: FiniteDuration, nanos: () => Long) {
  import TailOutage._

  private var failingSince: Option[Long]  = None
  private var breakingSince: Option[Long] = None
  private var breaks                      = 0
  private var restsUntil: Option[Long]    = None

  /** True until the next attempt is due. */
  def isResting: Boolean = {
    restsUntil = restsUntil.filter(_ - nanos() > 0)
    restsUntil.isDefined
  }

  /** An attempt failed. True if the outage is over its time. */
  def failed(): Boolean = {
    val now = nanos()
    failingSince = failingSince.orElse(Some(now))
    restsUntil = Some(now + RestNanos)
    isOver(failingSince, now)
  }

  /** The broker responded. */
  def responded(): Unit = failingSince = None

  /** The feed broke. True if it did so for the whole time without an entry. The first few times it is opened at once.
    */
  def broke(): Boolean = {
    val now = nanos()
    breaks += 1
    breakingSince = breakingSince.orElse(Some(now))
    val isOften = breaks > FeedTimes.MaxReopened
    if (isOften) restsUntil = Some(now + RestNanos)
    isOften && isOver(breakingSince, now)
  }

  /** An entry was taken. */
  def delivered(): Unit = if (breaks > 0) {
    breaks = 0
    breakingSince = None
  }

  private def isOver(since: Option[Long], now: Long) = since.exists(now - _ > longest.toNanos)
}

private object TailOutage {
  private val RestNanos = TimeUnit.SECONDS.toNanos(1)
}
