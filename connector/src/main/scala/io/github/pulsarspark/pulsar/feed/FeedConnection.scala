package io.github.pulsarspark.pulsar.feed

import java.util.concurrent.{CompletableFuture, TimeUnit}

import scala.annotation.tailrec
import scala.util.{Failure, Success, Try}

import org.slf4j.LoggerFactory

import io.github.pulsarspark.options.ReadOptions
import io.github.pulsarspark.position.Position
import io.github.pulsarspark.pulsar.connection.ClusterCalls

/** Bounds that a broker reports to a feed.
  *
  * @param last
  *   the last message of the topic; entry -1 when it has none
  * @param cursor
  *   the entry before the first one that the broker can still deliver
  */
private[pulsar] final case class FeedBounds(last: Position, cursor: Position)

private[pulsar] object FeedBounds {
  def apply(b: PartitionFeed.Bounds): FeedBounds =
    new FeedBounds(Position(b.lastLedgerId, b.lastEntryId), Position(b.markDeleteLedgerId, b.markDeleteEntryId))
}

/** The feed of a topic partition that is open, one after another. */
private[feed] final class FeedConnection(
    feeds: EntryFeeds,
    answers: ClusterCalls,
    topic: String,
    options: ReadOptions
) {
  import FeedConnection._
  import FeedTimes._

  private var current: EntryFeed = _
  private var openedIn           = 0  // session
  private var closedFeeds        = 0L // reconnects of feeds that were replaced, and replacements
  private var unnamed            = Option.empty[FeedConnection.Unnamed]

  /** The feed; null when none is open. */
  def feed: EntryFeed = current

  def isOpen: Boolean = current != null

  /** True if a feed is open and can still deliver entries. */
  def isAlive: Boolean = isOpen && !current.isGone

  /** The session in which the feed was opened. */
  def firstSession: Int = openedIn

  /** Times that a feed connected again, or was replaced. */
  def reconnects: Long = closedFeeds + sessionsAfterFirst

  /** Opens a feed, paused. A topic that is being unloaded may respond as if its last messages were deleted, so other
    * feeds confirm that, once nothing is to be read before them. A message that is stored and not named exists, however
    * late it arrives.
    *
    * @param start
    *   the entry to begin with; None begins with the first entry there is
    * @param permits
    *   messages that may be sent at first
    * @param known
    *   a message that is known to exist
    */
  def open(start: Option[Position], permits: Int, known: Position): FeedBounds = {
    unnamed = None
    val result = openAt(start, permits, known, Confirmations)
    openedIn = current.session
    result
  }

  @tailrec
  private def openAt(start: Option[Position], permits: Int, known: Position, attempts: Int): FeedBounds = {
    current = feeds.open(start, permits).await(answers, s"Opening $topic at ${start.getOrElse("its beginning")}")
    val answer  = request(current)
    val isAhead = start.forall(_ < answer.last) && !answer.last.isBeforeLedger // more is to be read before it
    if (answer.last >= known || isAhead) answer
    else if (isStored(known, answer)) {
      unnamed = Some(Unnamed(named = answer.last, known))
      answer.copy(last = known)
    } else if (goesOnAfter(start.getOrElse(answer.last))) answer.copy(last = known)
    else if (attempts == 1) answer
    else {
      discard()
      openAt(start, permits, known, attempts - 1)
    }
  }

  /** True if the topic stores a message that its broker does not name, not even without compaction, and the feed is
    * before it. A broker never places a cursor after the last stored entry.
    */
  private def isStored(known: Position, answer: FeedBounds): Boolean = answer.cursor < known && {
    val probe = feeds.openStored(known.copy(entryId = known.entryId + 1))
    try {
      val stored = request(probe.await(answers, s"Checking that $topic goes to $known"))
      stored.last < known && stored.cursor >= known
    } finally probe.close()
  }

  /** True if an entry after this one arrives within `ConfirmMillis`, or as long after this one: more is to be read. The
    * broker may send no other until the permits that this one used are returned.
    */
  private def goesOnAfter(read: Position): Boolean = {
    current.resume()
    isNewestAfter(read, 1) ||
    Try(current.poll(0, TimeUnit.MILLISECONDS)).toOption.flatMap(Option(_)).exists { repeated =>
      current.grant(repeated, repeated.messages)
      repeated.buffer.release()
      isNewestAfter(read, Int.MaxValue)
    }
  }

  /** Waits for the entry after this one, or for some messages. */
  private def isNewestAfter(read: Position, messages: Int): Boolean = {
    current.gather(new PartitionFeed.Place(read.ledgerId, read.entryId + 1), messages, ConfirmMillis)
    Option(current.newest).exists(n => Position(n.ledgerId, n.entryId) > read)
  }

  /** Requests the current bounds. */
  def bounds(): FeedBounds = {
    val result = request(current)
    unnamed.filter(_.named == result.last).fold(result)(u => result.copy(last = u.known))
  }

  private def request(feed: PartitionFeed): FeedBounds =
    FeedBounds(answers.await(s"Requesting the bounds of $topic")(feed.bounds()))

  /** Like `bounds`, but retries until `pollTimeout`. */
  def boundsAfterOutage(): FeedBounds = boundsUntil(System.nanoTime() + options.pollTimeout.toNanos)

  @tailrec
  private def boundsUntil(deadline: Long): FeedBounds = Try(bounds()) match {
    case Success(bounds)                                                    => bounds
    case Failure(e) if current.isGone || System.nanoTime() - deadline >= 0L => throw e
    case Failure(_)                                                         =>
      TimeUnit.MILLISECONDS.sleep(RetryMillis)
      boundsUntil(deadline)
  }

  /** Closes the feed, which another one is to replace. */
  def discard(): Unit = {
    current.closeAsync()
    current = null
  }

  /** Like `discard`, for a feed that has delivered entries; logs and counts the reconnect. */
  def replace(last: Position): Unit = {
    log.info("{}: reading again after {}", topic, last: Any)
    closedFeeds += sessionsAfterFirst + 1
    discard()
  }

  def close(): Unit = answers.await(s"Closing the reader of $topic")(closeAsync())

  /** Closes without waiting. */
  def closeAsync(): CompletableFuture[Void] = {
    val closing = if (isOpen) current.closeAsync() else CompletableFuture.completedFuture[Void](null)
    closing.whenComplete((_, _) => feeds.close())
  }

  private def sessionsAfterFirst: Long = if (!isOpen || openedIn == 0) 0L else (current.session - openedIn).toLong
}

private object FeedConnection {

  /** A message that is stored, while the broker names an earlier one as the last. */
  private final case class Unnamed(named: Position, known: Position)

  private val log = LoggerFactory.getLogger(classOf[FeedConnection])
}
