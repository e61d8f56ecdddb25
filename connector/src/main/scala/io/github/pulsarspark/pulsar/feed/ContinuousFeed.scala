package io.github.pulsarspark.pulsar.feed

import java.util.concurrent.{CompletableFuture, TimeUnit}

import scala.util.{Failure, Success, Try}

import io.netty.buffer.ByteBuf
import org.apache.pulsar.client.api.PulsarClientException

import io.github.pulsarspark.options.ReadOptions
import io.github.pulsarspark.position.Position
import io.github.pulsarspark.pulsar.connection.ClusterCalls
import io.github.pulsarspark.pulsar.feed.ContinuityCheck.Verdict
import io.github.pulsarspark.pulsar.topics.TopicMissing

/** The entries of a topic partition after a position, with the proof that none is missing between two of them. Knows
  * nothing of an end: its reader decides which entries it takes, how long it waits, and what a loss means.
  *
  * Positions are compared, not trusted. The feed begins with the last entry read: its arrival proves that nothing is
  * missing after it. [[ContinuityCheck]] decides about every entry after that. When the proof fails or the connection
  * is lost, the reader opens the feed again at the last entry read.
  *
  * Its methods take a message that is known to exist, which may be the last one read. It is no end: a broker that
  * denies it gets the request again.
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

  private val connection = new FeedConnection(feeds, answers, topic, options)
  private val window     = new PermitWindow(options.readAheadBytes, options.readAheadMessages)
  private val check      = new ContinuityCheck(start, options.readCompacted)

  private var current: EntryFeed.Entry = _     // arrived last, unless it was released
  private var arrivedAt                = start // place of the entry that arrived last
  private var listener: Runnable       = () => ()
  private var provenIn                 = 0     // session in which the last entry read arrived, or was there
  private var hasBegun                 = false // the first entry after the start would have arrived

  /** The last entry read, or that counts as read. */
  def last: Position = check.last

  /** The place of the entry that arrived last. */
  def position: Position = arrivedAt

  /** The entry that arrived last; valid until [[release]], and the next call of [[next]]. */
  def entry: ByteBuf = current.buffer

  def isOpen: Boolean = connection.isOpen

  /** Leaves the open feed to a later task: what arrives meanwhile takes memory of the room. False when there is none
    * for what waits.
    */
  def waitIn(room: WaitingRoom): Boolean = {
    window.rest()
    feed.waitIn(room)
  }

  /** A task reads the feed again, with memory of its own. */
  def leaveRoom(): Unit = feed.leaveRoom()

  /** True if the feed can still deliver entries. */
  def isAlive: Boolean = connection.isAlive

  /** True if the feed is still in the session in which it was opened. */
  def isInFirstSession: Boolean = feed.session == connection.firstSession

  /** Times that it connected again, or was opened again. */
  def reconnects: Long = connection.reconnects

  /** Waits for an entry, in an open feed.
    *
    * @param known
    *   a message that is known to exist
    */
  def next(millis: Long, known: Position): Arrival = arrive(millis) match {
    case Arrival.Unproven => prove(known)
    case arrival          => arrival
  }

  /** Like `next`, but requests nothing: an entry after a gap is [[Arrival.Unproven]]. */
  def arrive(millis: Long): Arrival = {
    release()
    val isBroken =
      try {
        current = feed.poll(millis, TimeUnit.MILLISECONDS)
        false
      } catch { case _: PulsarClientException if feed.isGone => true } // the next attempt reports the reason, if any
    if (isBroken) Arrival.Broken
    else if (current == null) Arrival.Silence
    else {
      arrivedAt = Position(current.ledgerId, current.entryId)
      concluded(check.arrived(arrivedAt, current.session))
    }
  }

  /** Decides about the entry that arrived and is unproven, by a request for the cursor.
    *
    * @param known
    *   a message that is known to exist
    */
  def prove(known: Position): Arrival = concluded(answered(known))

  /** True if a broker would have sent whatever was stored between the last entry read and the one that arrived,
    * provided that nothing was on its way before: the ledger of the last entry was there when the session began. An
    * unload drops an empty ledger; then the outage must have been a short one, and the ledger must have been there
    * once, unless nothing was stored when the reader began.
    *
    * A broker that may send only so much in a time (`dispatchRate`) may hold back messages, which this does not notice.
    *
    * @param known
    *   a position that is known to exist, of a message if there was one when the reader began
    */
  def hasWatched(known: Position): Boolean = {
    val wasEmpty      = known.isBeforeLedger || known <= check.last
    val isShortOutage =
      (hasBegun || wasEmpty) && check.last.isBeforeLedger && longestOutageMillis <= FeedTimes.MaxOutageMillis
    current.session == provenIn || feed.isUnbroken || isShortOutage
  }

  /** Length of the longest outage of the open feed, also of one that goes on. */
  def longestOutageMillis: Long = feed.longestOutageMillis

  private def concluded(verdict: Verdict): Arrival = verdict match {
    case Verdict.Take => Arrival.Next
    case Verdict.Lost => Arrival.NextAfterLoss
    case Verdict.Ask  => Arrival.Unproven
    case _            =>
      window.refill(feed, current)
      release()
      if (verdict == Verdict.Reject) Arrival.Rejected
      else if (verdict == Verdict.Reopen) Arrival.Broken
      else Arrival.Skipped
  }

  /** Calls `listener` on a thread of the network whenever an entry arrives, also in feeds that are opened later. */
  def onArrival(listener: Runnable): Unit = {
    this.listener = listener
    if (isOpen) feed.onArrival(listener)
  }

  /** The reader takes the entry that arrived: it counts as read, and another one may be sent. */
  def take(): Unit = {
    provenIn = current.session
    window.take(feed, current)
    check.took(arrivedAt)
  }

  /** Opens a feed with the last entry read, or with the beginning of the compacted view if that entry's ledger is
    * deleted.
    *
    * @param known
    *   a message that is known to exist
    * @return
    *   the broker's response, even if the known message does not exist; None when the topic does not exist
    */
  def open(known: Position): Option[FeedBounds] =
    try {
      val isFirst = options.readCompacted && check.last == Position.BeforeAll
      val result  = connection.open(Option.unless(isFirst)(check.last), window.first, known) match {
        case bounds if !isFirst && check.mustStartAtEarliest(bounds.cursor) =>
          connection.discard()
          connection.open(None, window.first, known)
        case bounds => bounds
      }
      check.opened(result.cursor, connection.firstSession)
      provenIn = if (result.cursor <= check.last) connection.firstSession else 0
      hasBegun ||= provenIn > 0
      window.restart()
      feed.onArrival(listener)
      feed.resume()
      Some(result)
    } catch { case TopicMissing(_) => None }

  /** Like `open`, but first closes the current feed. */
  def reopen(known: Position): Option[FeedBounds] = {
    connection.replace(check.last)
    window.narrow()
    open(known)
  }

  /** Requests the current bounds. */
  def bounds(): FeedBounds = connection.bounds()

  /** Releases the entry that arrived last, if that was not done. */
  def release(): Unit = if (current != null) {
    current.buffer.release()
    current = null
  }

  def close(): Unit = {
    release()
    connection.close()
  }

  /** Closes without waiting. */
  def closeAsync(): CompletableFuture[Void] = {
    release()
    connection.closeAsync()
  }

  private def answered(known: Position): Verdict = {
    feed.gather(new PartitionFeed.Place(known.ledgerId, known.entryId), window.most / 2,
      FeedTimes.GatherMillis) // one request for all of them
    val newest = feed.newest // before the request
    Try(connection.boundsAfterOutage()) match {
      case Success(bounds) => check.answered(arrivedAt, Position(newest.ledgerId, newest.entryId), bounds.cursor)
      case Failure(_) if feed.isGone => Verdict.Reopen
      case Failure(e)                => throw e
    }
  }

  private def feed: EntryFeed = connection.feed
}

private[pulsar] object ContinuousFeed {

  /** Result of one call of [[ContinuousFeed.next]]. */
  sealed trait Arrival

  object Arrival {

    /** The next entry there is: nothing is missing between the last one read and this one. */
    case object Next extends Arrival

    /** The next existing entry: those between the last one read and this one are deleted. */
    case object NextAfterLoss extends Arrival

    /** An entry that is read already, and was bound to arrive again. */
    case object Skipped extends Arrival

    /** An entry that is read already, and should not have arrived. */
    case object Rejected extends Arrival

    /** An entry after a gap, which the cursor has to explain. */
    case object Unproven extends Arrival

    /** The wait ended without an entry. */
    case object Silence extends Arrival

    /** The feed delivers nothing more, or not the next entry: open it again. */
    case object Broken extends Arrival
  }
}
