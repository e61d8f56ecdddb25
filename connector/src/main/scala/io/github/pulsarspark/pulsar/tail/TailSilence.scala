package io.github.pulsarspark.pulsar.tail

import java.util.concurrent.TimeUnit

/** Decides when a silent tail is looked at again: a broker may forget a consumer, which looks like a topic without new
  * messages. As long as the silence goes on, the time between two looks doubles.
  *
  * @param nanos
  *   the clock
  */
private[tail] final class TailSilence(nanos: () => Long) {
  import TailSilence._

  private var since = nanos() // the last entry, or the last look
  private var looks = 0

  /** An entry arrived, or another feed was opened because the former one broke. */
  def ended(): Unit = {
    since = nanos()
    looks = 0
  }

  /** True if a look is due, which is counted.
    *
    * @param isExpecting
    *   whether a message is known to exist that has not arrived
    */
  def needsLook(isExpecting: Boolean): Boolean = {
    val now     = nanos()
    val longest = (if (isExpecting) ExpectedNanos else LongestNanos) << math.min(looks, MaxDoubled)
    val result  = now - since >= longest
    if (result) {
      since = now
      looks += 1
    }
    result
  }
}

private[tail] object TailSilence {

  /** Silence before the first look while a message is expected. */
  val ExpectedNanos: Long = TimeUnit.SECONDS.toNanos(10)

  /** Silence before the first look of any tail. */
  val LongestNanos: Long = TimeUnit.SECONDS.toNanos(60)

  private val MaxDoubled = 4
}
