package io.github.pulsarspark.pulsar.feed

import java.util.concurrent.TimeUnit

/** Timeouts of a reader that waits for a feed, and limits of how often it opens another. */
private[pulsar] object FeedTimes {

  /** Silence after which the bounds are requested. */
  val SecondLookMillis = 5000L

  /** A feed that sends nothing is opened again after this time, if not after a quarter of the longest wait. */
  val SilentNanos = TimeUnit.SECONDS.toNanos(10)

  /** The longest wait for more entries before a request about gaps. */
  val GatherMillis = 50L

  /** Pause between two requests if the first was refused at once. */
  val RetryMillis = 100L

  /** The number of times in a row that a feed may be opened again, however long it takes. */
  val MaxReopened = 10

  /** Number of feeds that must report the same before messages count as lost from the end of a topic. */
  val Confirmations = 3

  /** Pause between two of these feeds. */
  val ConfirmMillis = 300L

  /** Longest outage after which an empty ledger that is gone proves nothing: below a minute, the shortest retention
    * time that a policy can name.
    */
  val MaxOutageMillis = 45000L

  /** Time without a response after which a consumer is replaced. */
  val UnansweredMillis = 5000L
}
