package io.github.pulsarspark.pulsar.feed

import java.util.concurrent.TimeUnit

/** How long a reader waits for a feed, and how often it opens another. */
private[pulsar] object FeedTimes {

  /** When no entry arrives for this long, the bounds are requested. */
  val SecondLookMillis = 5000L

  /** A feed that sends nothing is opened again after this time, if not after a quarter of the longest wait. */
  val SilentNanos = TimeUnit.SECONDS.toNanos(10)

  /** The longest wait for more entries before a request about gaps. */
  val GatherMillis = 50L

  /** Between two requests of which the first was refused at once. */
  val RetryMillis = 100L

  /** The number of times in a row that a feed may be opened again, however long it takes. */
  val MostReopened = 10

  /** So many feeds must agree that messages are gone from the end of a topic. */
  val Confirmations = 3

  /** Between two of these feeds. */
  val ConfirmMillis = 300L

  /** When a consumer does not answer for this long, another one is requested. */
  val UnansweredMillis = 5000L
}
