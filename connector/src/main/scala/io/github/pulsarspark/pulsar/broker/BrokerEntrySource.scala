package io.github.pulsarspark.pulsar.broker

import java.util.concurrent.{CompletableFuture, TimeUnit}

import scala.annotation.tailrec
import scala.util.control.NonFatal
import scala.util.{Failure, Success, Try}

import io.netty.buffer.ByteBuf
import org.apache.pulsar.client.api.PulsarClientException
import org.slf4j.LoggerFactory

import io.github.pulsarspark.errors.{Conditions, DataLossPolicy, LostRanges}
import io.github.pulsarspark.format.RangeGuard
import io.github.pulsarspark.options.ReadOptions
import io.github.pulsarspark.position.{OffsetRange, Position}
import io.github.pulsarspark.pulsar.topics.{TopicLosses, TopicMissing}
import io.github.pulsarspark.pulsar.feed.ContinuityCheck.Verdict
import io.github.pulsarspark.pulsar.connection.{ClientPool, ClusterCalls}
import io.github.pulsarspark.pulsar.feed.{BrokerFeeds, ContinuityCheck, EntryFeed, EntryFeeds, FeedTimes, PermitWindow}

/** Entries of a range as the broker dispatches them.
  *
  * Positions are compared, not trusted. The feed begins with the entry before the first one of the range: its arrival
  * proves that nothing is missing between them. [[ContinuityCheck]] decides about every entry after that.
  */
private[pulsar] final class BrokerEntrySource(
    feeds: EntryFeeds,
    answers: ClusterCalls,
    range: OffsetRange,
    options: ReadOptions,
    private var guard: RangeGuard
) extends GrowingEntrySource {
  import BrokerEntrySource._
  import FeedTimes._

  private val window = new PermitWindow(options.readAheadBytes, options.readAheadMessages)
  private var losses = new DataLossPolicy(options.failOnDataLoss)
  private val check  = new ContinuityCheck(entryBefore(range.startExclusive), options.readCompacted)

  private var end                      = range.endInclusive
  private var stop                     = end.wholeEntry // nearer than the end once the topic is known to end before it
  private var done                     = false
  private var feed: EntryFeed          = _
  private var openedIn                 = 0              // session
  private var current: EntryFeed.Entry = _              // handed out, or being decided about
  private var reopened                 = 0              // times since an entry was handed out
  private var waitingSince             = 0L
  private var patience                 = firstPatience  // before a silent feed is opened again, ns
  private var closedFeeds              = 0L             // reconnects of feeds that were replaced, and replacements
  private def firstPatience            = math.min(SilentNanos, options.pollTimeout.toNanos / 4)

  override def ledgerId: Long   = current.ledgerId
  override def entryId: Long    = current.entryId
  override def entry: ByteBuf   = current.buffer
  override def lost: LostRanges = losses.lost
  override def reconnects: Long = closedFeeds + sessionsAfterFirst

  override def next(): Boolean = {
    releaseCurrent()
    reopened = 0
    waitingSince = System.nanoTime()
    patience = firstPatience
    if (feed == null && !done) open()
    advance()
  }

  override def extendTo(position: Position): Unit = {
    end = position
    stop = position.wholeEntry
    done = stop <= check.last
  }

  override def release(): Unit = releaseCurrent()

  /** Whether everything up to the end was read and nothing after it, and more may arrive. */
  def isAtEnd: Boolean = done && end.isWholeEntry && check.last == end && feed != null && !feed.isGone

  /** Goes on with a range that begins where the last one ended. Only when [[isAtEnd]].
    *
    * @param guard
    *   of that range
    */
  def continueTo(end: Position, guard: RangeGuard): Unit = {
    releaseCurrent()
    this.guard = guard
    losses = new DataLossPolicy(options.failOnDataLoss)
    extendTo(end)
  }

  @tailrec
  private def advance(): Boolean = {
    if (!done) current = take()
    if (done) false
    else if (current == null) advance()
    else {
      val position = Position(current.ledgerId, current.entryId)
      val verdict  = decide(position)
      if (verdict == Verdict.Lost) trimmed(position, s"the next message there is has position $position")
      if (verdict == Verdict.Take || verdict == Verdict.Lost) handOut(position)
      else {
        if (verdict == Verdict.Reject) guard.reject(position, check.last)
        window.refill(feed, current)
        releaseCurrent()
        if (verdict == Verdict.Reopen) reopen()
        advance()
      }
    }
  }

  private def decide(position: Position): Verdict = check.arrived(position, current.session) match {
    case Verdict.Ask =>
      feed.gather(new EntryFeed.Place(stop.ledgerId, stop.entryId), window.size / 2,
        GatherMillis) // one request for all of them
      val newest = feed.newest // before the request
      Try(boundsUntil(System.nanoTime() + options.pollTimeout.toNanos)) match {
        case Success(bounds) => check.answered(position, Position(newest.ledgerId, newest.entryId), markDelete(bounds))
        case Failure(_) if feed.isGone => Verdict.Reopen
        case Failure(e)                => throw e
      }
    case verdict => verdict
  }

  private def handOut(position: Position): Boolean = {
    done = position >= stop
    val isInRange = position <= stop
    if (isInRange) {
      window.refill(feed, current)
      check.took(position)
    }
    isInRange
  }

  override def close(): Unit =
    try answers.await(s"Closing the reader of ${range.topic}")(closeAsync())
    catch { case NonFatal(e) => log.warn("closing the reader of {}: {}", range.topic, e.toString: Any) }

  /** Closes without waiting. */
  def closeAsync(): CompletableFuture[Void] = {
    done = true
    releaseCurrent()
    val closing = if (feed == null) CompletableFuture.completedFuture[Void](null) else feed.closeAsync()
    closing.whenComplete((_, _) => feeds.close())
  }

  /** The next entry, which is known to exist. Null when the feed was opened again or a closer look showed that the
    * range is done.
    */
  private def take(): EntryFeed.Entry = {
    val (open, now) = (feed, System.nanoTime())
    val deadline    = (if (patience == firstPatience) now else waitingSince) + options.pollTimeout.toNanos
    var entry       = poll(math.min(TimeUnit.NANOSECONDS.toMillis(patience), SecondLookMillis))
    while (entry == null && !done && feed == open) {
      // a broker that does not answer now may do so before the deadline
      Try(bounds()).foreach(lookAgain(_, System.nanoTime() - now))
      val left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime())
      if (left <= 0 && !done) throw timedOut
      if (!done && feed == open) entry = poll(math.min(left, SecondLookMillis))
    }
    entry
  }

  /** No entry arrives. Expiry may have moved the cursor beyond all entries, so that none would ever arrive. And a
    * broker may forget a consumer that subscribes while the topic is unloaded: it answers what it knew then, and sends
    * nothing.
    */
  private def lookAgain(bounds: EntryFeed.Bounds, silent: Long): Unit = {
    // the compacted view is in front of the cursor, as long as it is read in one session
    val isBefore  = markDelete(bounds) < stop || options.readCompacted && feed.session == openedIn
    val mayArrive = isBefore && Position(bounds.lastLedgerId, bounds.lastEntryId) >= stop
    val isSilent  = silent >= patience
    if (isSilent) patience *= 2 // for a broker that is slow
    if (isSilent || !mayArrive) reopen()
  }

  private def poll(millis: Long): EntryFeed.Entry =
    try feed.poll(millis, TimeUnit.MILLISECONDS)
    catch {
      case _: PulsarClientException if feed.isGone =>
        reopen() // which says why, unless it works
        null
    }

  private def timedOut = Conditions.ReadTimeout(topic = range.topic, position = check.last.toString,
    waited = options.pollTimeout.toMillis.toString, end = end.toString).exception

  /** An outage may last as long here as the wait for an entry. */
  @tailrec
  private def boundsUntil(deadline: Long): EntryFeed.Bounds = Try(bounds()) match {
    case Success(bounds)                                                 => bounds
    case Failure(e) if feed.isGone || System.nanoTime() - deadline >= 0L => throw e
    case Failure(_)                                                      =>
      TimeUnit.MILLISECONDS.sleep(RetryMillis)
      boundsUntil(deadline)
  }

  private def bounds(): EntryFeed.Bounds = answers.await(s"Asking for the bounds of ${range.topic}")(feed.bounds())

  /** The end of a range is a message that existed when it was planned; only compaction may rightly have removed it. */
  private def stopWhereTheTopicEnds(bounds: EntryFeed.Bounds): Unit = {
    val last = Position(bounds.lastLedgerId, bounds.lastEntryId)
    if (last.isBeforeLedger) {
      if (check.last < stop && !options.readCompacted) trimmed(end, "the topic is empty now")
      done = true
    } else if (last < stop) {
      if (!options.readCompacted)
        losses.report(TopicLosses.endsBefore(range.topic, check.last, end.toString, last))
      stop = last
      done = stop <= check.last
    }
  }

  private def trimmed(to: Position, reason: String): Unit = losses.report(
    Conditions.DataLossTrimmed(topic = range.topic, from = check.last.toString, to = to.toString, reason = reason)
  )

  private def reopen(): Unit = {
    reopened += 1
    if (reopened > MostReopened && System.nanoTime() - waitingSince > options.pollTimeout.toNanos) throw timedOut
    log.info("{}: reading again after {}", range.topic, check.last: Any)
    closedFeeds += sessionsAfterFirst + 1
    feed.closeAsync()
    feed = null
    open()
  }

  /** Opens a feed with the last entry read, or with the beginning of the compacted view where that entry's ledger is
    * gone.
    */
  private def open(): Unit =
    try {
      val isFirst = options.readCompacted && check.last == Position.BeforeAll
      val bounds  = openAt(Option.unless(isFirst)(check.last)) match {
        case bounds if !isFirst && check.mustStartAtEarliest(markDelete(bounds)) =>
          feed.closeAsync()
          feed = null
          openAt(None)
        case bounds => bounds
      }
      openedIn = feed.session
      check.opened(markDelete(bounds), openedIn)
      window.restart()
      stopWhereTheTopicEnds(bounds)
      feed.resume()
    } catch {
      case TopicMissing(_) =>
        losses.report(TopicLosses.deleted(range.topic, check.last, end.toString))
        done = true
    }

  /** A topic that is unloaded meanwhile may answer as if its last messages were gone, so other feeds confirm that. */
  @tailrec
  private def openAt(start: Option[Position], attempts: Int = Confirmations): EntryFeed.Bounds = {
    feed =
      feeds.open(start, window.first).await(answers, s"Opening ${range.topic} at ${start.getOrElse("its beginning")}")
    val answer = bounds()
    val isLost = !options.readCompacted && Position(answer.lastLedgerId, answer.lastEntryId) < stop
    if (isLost && attempts > 1) {
      TimeUnit.MILLISECONDS.sleep(ConfirmMillis)
      feed.closeAsync()
      feed = null
      openAt(start, attempts - 1)
    } else answer
  }

  private def sessionsAfterFirst: Long = if (feed == null || openedIn == 0) 0L else (feed.session - openedIn).toLong

  private def releaseCurrent(): Unit = if (current != null) {
    current.buffer.release()
    current = null
  }
}

private[pulsar] object BrokerEntrySource {
  private val log = LoggerFactory.getLogger(classOf[BrokerEntrySource])

  /** @param role
    *   who reads; part of the names of subscriptions
    */
  def apply(range: OffsetRange, options: ReadOptions, guard: RangeGuard, role: String = "task"): BrokerEntrySource = {
    val lease = ClientPool.acquire(options.client)
    new BrokerEntrySource(
      new BrokerFeeds(lease, range.topic, options, role),
      new ClusterCalls(lease.options, lease.options.serviceUrl),
      range,
      options,
      guard
    )
  }

  private def markDelete(bounds: EntryFeed.Bounds) = Position(bounds.markDeleteLedgerId, bounds.markDeleteEntryId)

  /** The last entry that counts as read as a whole. */
  private def entryBefore(start: Position) =
    if (start.isWholeEntry) start else Position(start.ledgerId, start.entryId - 1)
}
