package io.github.pulsarspark.pulsar.feed

import java.util.concurrent.{CompletableFuture, TimeUnit}

import scala.annotation.tailrec
import scala.util.{Failure, Success, Try}

import io.netty.buffer.ByteBuf
import org.apache.pulsar.client.api.PulsarClientException
import org.slf4j.LoggerFactory

import io.github.pulsarspark.options.ReadOptions
import io.github.pulsarspark.position.Position
import io.github.pulsarspark.pulsar.connection.ClusterCalls
import io.github.pulsarspark.pulsar.feed.ContinuityCheck.Verdict
import io.github.pulsarspark.pulsar.topics.TopicMissing

/** The entries of a topic partition after a position, with the proof that none is missing between two of them. Knows
  * nothing of an end: whoever reads it decides which entries it takes, how long it waits, and what a loss means.
  *
  * Positions are compared, not trusted. The feed begins with the last entry read: its arrival proves that nothing is
  * missing after it. [[ContinuityCheck]] decides about every entry after that. When the proof fails or the broker is
  * gone, the reader opens the feed again at the last entry read.
  *
  * Its methods take a message that is known to exist, which may be the last one read. It is no end: the broker is asked
  * for it again when it denies it.
  *
  * @param start
  *   the last entry that counts as read
  */
private[pulsar] final class ContinuousFeed(
    feeds: EntryFeeds,
    answers: ClusterCalls,
    topic: String,
    start: Position,
    options: ReadOptions
) {
  import ContinuousFeed._
  import FeedTimes._

  private val window = new PermitWindow(options.readAheadBytes, options.readAheadMessages)
  private val check  = new ContinuityCheck(start, options.readCompacted)

  private var feed: EntryFeed          = _
  private var openedIn                 = 0     // session
  private var current: EntryFeed.Entry = _     // arrived last, unless it was released
  private var arrivedAt                = start // place of the entry that arrived last
  private var closedFeeds              = 0L    // reconnects of feeds that were replaced, and replacements

  /** The last entry read, or that counts as read. */
  def last: Position = check.last

  /** The place of the entry that arrived last. */
  def position: Position = arrivedAt

  /** The entry that arrived last; valid until [[release]], and the next call of [[next]]. */
  def entry: ByteBuf = current.buffer

  def isOpen: Boolean = feed != null

  /** Whether it can still deliver. */
  def isAlive: Boolean = feed != null && !feed.isGone

  /** Whether it still is in the session in which it was opened. */
  def isInFirstSession: Boolean = feed.session == openedIn

  /** Times that it connected again, or was opened again. */
  def reconnects: Long = closedFeeds + sessionsAfterFirst

  /** Waits for an entry, in an open feed.
    *
    * @param known
    *   a message that is known to exist
    */
  def next(millis: Long, known: Position): Arrival = {
    release()
    val isBroken =
      try {
        current = feed.poll(millis, TimeUnit.MILLISECONDS)
        false
      } catch { case _: PulsarClientException if feed.isGone => true } // opening it again says why, unless it works
    if (isBroken) Arrival.Broken
    else if (current == null) Arrival.Silence
    else {
      arrivedAt = Position(current.ledgerId, current.entryId)
      decide(known) match {
        case Verdict.Take => Arrival.Next
        case Verdict.Lost => Arrival.NextAfterLoss
        case verdict      =>
          window.refill(feed, current)
          release()
          if (verdict == Verdict.Reject) Arrival.Rejected
          else if (verdict == Verdict.Reopen) Arrival.Broken
          else Arrival.Skipped
      }
    }
  }

  /** The reader takes the entry that arrived: it counts as read, and another one may be sent. */
  def take(): Unit = {
    window.refill(feed, current)
    check.took(arrivedAt)
  }

  /** Opens a feed with the last entry read, or with the beginning of the compacted view where that entry's ledger is
    * gone.
    *
    * @param known
    *   a message that is known to exist
    * @return
    *   what the broker answers, also that the known message does not exist; None when the topic does not exist
    */
  def open(known: Position): Option[Bounds] =
    try {
      val isFirst = options.readCompacted && check.last == Position.BeforeAll
      val result  = openAt(Option.unless(isFirst)(check.last), known) match {
        case bounds if !isFirst && check.mustStartAtEarliest(bounds.cursor) =>
          discard()
          openAt(None, known)
        case bounds => bounds
      }
      openedIn = feed.session
      check.opened(result.cursor, openedIn)
      window.restart()
      feed.resume()
      Some(result)
    } catch { case TopicMissing(_) => None }

  /** The same with another feed in place of the one that is open. */
  def reopen(known: Position): Option[Bounds] = {
    log.info("{}: reading again after {}", topic, check.last: Any)
    closedFeeds += sessionsAfterFirst + 1
    discard()
    open(known)
  }

  /** What the broker answers now. */
  def bounds(): Bounds = Bounds(answers.await(s"Asking for the bounds of $topic")(feed.bounds()))

  /** Releases the entry that arrived last, if that was not done. */
  def release(): Unit = if (current != null) {
    current.buffer.release()
    current = null
  }

  def close(): Unit = answers.await(s"Closing the reader of $topic")(closeAsync())

  /** Closes without waiting. */
  def closeAsync(): CompletableFuture[Void] = {
    release()
    val closing = if (feed == null) CompletableFuture.completedFuture[Void](null) else feed.closeAsync()
    closing.whenComplete((_, _) => feeds.close())
  }

  private def decide(known: Position): Verdict = check.arrived(arrivedAt, current.session) match {
    case Verdict.Ask =>
      feed.gather(new EntryFeed.Place(known.ledgerId, known.entryId), window.size / 2,
        GatherMillis) // one request for all of them
      val newest = feed.newest // before the request
      Try(boundsUntil(System.nanoTime() + options.pollTimeout.toNanos)) match {
        case Success(bounds) => check.answered(arrivedAt, Position(newest.ledgerId, newest.entryId), bounds.cursor)
        case Failure(_) if feed.isGone => Verdict.Reopen
        case Failure(e)                => throw e
      }
    case verdict => verdict
  }

  /** An outage may last as long here as the wait for an entry. */
  @tailrec
  private def boundsUntil(deadline: Long): Bounds = Try(bounds()) match {
    case Success(bounds)                                                 => bounds
    case Failure(e) if feed.isGone || System.nanoTime() - deadline >= 0L => throw e
    case Failure(_)                                                      =>
      TimeUnit.MILLISECONDS.sleep(RetryMillis)
      boundsUntil(deadline)
  }

  /** A topic that is unloaded meanwhile may answer as if its last messages were gone, so other feeds confirm that. */
  @tailrec
  private def openAt(start: Option[Position], known: Position, attempts: Int = Confirmations): Bounds = {
    feed = feeds.open(start, window.first).await(answers, s"Opening $topic at ${start.getOrElse("its beginning")}")
    val answer = bounds()
    val isLost = !options.readCompacted && answer.last < known
    if (isLost && attempts > 1) {
      TimeUnit.MILLISECONDS.sleep(ConfirmMillis)
      discard()
      openAt(start, known, attempts - 1)
    } else answer
  }

  private def discard(): Unit = {
    feed.closeAsync()
    feed = null
  }

  private def sessionsAfterFirst: Long = if (feed == null || openedIn == 0) 0L else (feed.session - openedIn).toLong
}

private[pulsar] object ContinuousFeed {
  private val log = LoggerFactory.getLogger(classOf[ContinuousFeed])

  /** What a broker answers.
    *
    * @param last
    *   the last message of the topic; entry -1 when it has none
    * @param cursor
    *   the entry before the first one that the broker can still deliver
    */
  final case class Bounds(last: Position, cursor: Position)

  object Bounds {
    private[feed] def apply(b: EntryFeed.Bounds): Bounds =
      new Bounds(Position(b.lastLedgerId, b.lastEntryId), Position(b.markDeleteLedgerId, b.markDeleteEntryId))
  }

  /** What one call of [[ContinuousFeed.next]] found. */
  sealed trait Arrival

  object Arrival {

    /** The next entry there is: nothing is missing between the last one read and this one. */
    case object Next extends Arrival

    /** The next entry there is: what was between the last one read and this one is gone. */
    case object NextAfterLoss extends Arrival

    /** An entry that is read already, and was bound to arrive again. */
    case object Skipped extends Arrival

    /** An entry that is read already, and should not have arrived. */
    case object Rejected extends Arrival

    /** No entry in that time. */
    case object Silence extends Arrival

    /** The feed delivers nothing more, or not what is next: it is to be opened again. */
    case object Broken extends Arrival
  }
}
