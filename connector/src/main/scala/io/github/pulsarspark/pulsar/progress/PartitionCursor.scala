package io.github.pulsarspark.pulsar.progress

import java.util.concurrent.{CompletableFuture, TimeUnit}

import scala.concurrent.duration._
import scala.util.Try
import scala.util.control.NonFatal

import io.github.pulsarspark.position.Position
import io.github.pulsarspark.pulsar.feed.{PartitionFeed, PendingFeed}

/** The cursor of a subscription in one topic partition. For one thread.
  *
  * @param isFollowed
  *   whether it existed, and an earlier run of the query acknowledged with it; otherwise it may be new. Known when the
  *   feed is open
  */
private[progress] final class PartitionCursor(val pending: PendingFeed[_ <: ProgressFeed], isFollowed: => Boolean) {
  import PartitionCursor._

  private var sent: Option[Sent]      = None
  private var begin: Option[Position] = None
  private var isWaiting               = false // for the first entry after the acknowledged one
  private var failures                = 0     // of acknowledgements in a row, in this session

  /** The feed is open, with the cursor there. */
  def opened(feed: ProgressFeed, cursor: Position): Unit = {
    begin = Some(cursor)
    sent = Some(Sent(feed, cursor, feed.session, CompletableFuture.completedFuture(null)))
  }

  /** Feed of the subscription; None until it is open. */
  def feed: Option[ProgressFeed] = sent.map(_.feed)

  /** Position up to which everything is acknowledged, or the acknowledgement was sent. */
  def acknowledged: Option[Position] = sent.map(_.position)

  /** True if the subscription has kept everything after this position that it did not acknowledge. */
  def hasKept(position: Position): Boolean =
    acknowledged.exists(position <= _) && (isFollowed || beganBy(position))

  /** True if the subscription began at or before this position, so that it keeps what follows. */
  def beganBy(position: Position): Boolean = begin.exists(_ <= position)

  /** The first entry that arrives after this position. None unless exactly this one was acknowledged last, and none
    * after a moment. Only where something follows the position.
    */
  def firstAfter(position: Position): CompletableFuture[Option[ProgressFeed.Arrival]] =
    feed.filter(_ => acknowledged.contains(position)).fold(Nothing) { f =>
      f.firstAfterAcknowledged
        .completeOnTimeout(null, if (isWaiting) ArrivalTimeout.toMillis else 0L, TimeUnit.MILLISECONDS)
        .thenApply(Option(_))
    }

  /** Failure of the last acknowledgement; None while it has no receipt. */
  def failure: Option[Throwable] = sent.filter(_.receipt.isDone).flatMap(s => Try(s.receipt.join).failed.toOption)

  /** A broker may have forgotten the consumer, if it subscribed while the topic was unloaded: another one is opened. */
  def isStuck: Boolean = failures >= MaxFailures

  /** True if the broker has the last acknowledgement. */
  def isReceived: Boolean = sent.forall(_.receipt.isDone) && failure.isEmpty

  /** Sends an acknowledgement, unless it was sent before or a later one was. A broker that failed may have forgotten
    * it, so that it is sent in each session. The cursor never moves back.
    */
  def acknowledge(position: Position): Unit = for (before <- sent) {
    val mustRepeat = before.session != before.feed.session || failure.isDefined
    if (before.session != before.feed.session) failures = 0
    else if (before.receipt.isDone && before.feed.isConnected) failures = failure.fold(0)(_ => failures + 1)
    if (position > before.position || position == before.position && mustRepeat) {
      isWaiting &&= position == before.position
      val session = before.feed.session
      val receipt =
        try before.feed.acknowledge(new PartitionFeed.Place(position.ledgerId, position.entryId))
        catch { case NonFatal(e) => CompletableFuture.failedFuture[Void](e) }
      sent = Some(Sent(before.feed, position, session, receipt))
    }
  }

  /** Lets the broker read the entries after the cursor. */
  def awaitNext(): Unit = feed.foreach { f =>
    isWaiting = true
    f.awaitNext()
  }

  /** Waits for the last receipt; true when it arrived. */
  def awaitReceipt(nanos: Long): Boolean = sent.forall(s =>
    try {
      s.receipt.get(math.max(nanos, 0), TimeUnit.NANOSECONDS)
      true
    } catch { case NonFatal(_) => false }
  )
}

private object PartitionCursor {

  /** Acknowledgements that fail in a row while the consumer stays connected. */
  private val MaxFailures = 3

  /** The broker sends an entry at once when it is published, if it has a permit. */
  private val ArrivalTimeout = 1.second

  private val Nothing = CompletableFuture.completedFuture(Option.empty[ProgressFeed.Arrival])

  private final case class Sent(
      feed: ProgressFeed,
      position: Position,
      session: Int,
      receipt: CompletableFuture[Void]
  )
}
