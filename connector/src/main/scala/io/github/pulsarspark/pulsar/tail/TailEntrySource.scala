package io.github.pulsarspark.pulsar.tail

import java.util.concurrent.{CompletableFuture, CompletionException}

import scala.annotation.tailrec
import scala.util.{Failure, Success, Try}

import io.netty.buffer.ByteBuf
import org.slf4j.LoggerFactory

import io.github.pulsarspark.errors.{Conditions, DataLossPolicy, LostRanges}
import io.github.pulsarspark.format.{RangeGuard, Tier, TieredEntrySource, UndecidedTransaction}
import io.github.pulsarspark.options.ReadOptions
import io.github.pulsarspark.position.{OffsetRange, Position}
import io.github.pulsarspark.pulsar.feed.{ContinuousFeed, FeedBounds, FeedTimes, WaitingRoom}
import io.github.pulsarspark.pulsar.feed.ContinuousFeed.Arrival
import io.github.pulsarspark.pulsar.topics.TopicLosses

/** The entries of a topic partition as they arrive, without an end, for a reader of many tails that must not wait for
  * one of them. [[next]] is false when nothing has arrived; the listener is called when that may have changed. What
  * needs a response of the broker runs in the background: to open the feed, to explain a gap, to look at silence. Until
  * it is done the tail has no entry, and nothing else touches the feed.
  *
  * It does not promise to notice that a broker forgot it before [[TailSilence]] lets it look.
  *
  * @param range
  *   from the last message that counts as read; has no end
  * @param background
  *   runs work on another thread; its result is run on the thread of the reader
  * @param nanos
  *   the clock
  */
private[pulsarspark] final class TailEntrySource private[tail] (
    feed: ContinuousFeed,
    range: OffsetRange,
    options: ReadOptions,
    background: TailEntrySource.Work => CompletableFuture[() => Arrival],
    nanos: () => Long = () => System.nanoTime()
) extends TieredEntrySource {
  import TailEntrySource._

  private val outage  = new TailOutage(options.pollTimeout, nanos)
  private val silence = new TailSilence(nanos)
  private val guard   = new RangeGuard(range)

  private var pending: Option[CompletableFuture[() => Arrival]] = None

  private var listener: Runnable = () => ()
  private var known              = feed.last              // a message that exists
  private var admitted           = feed.last              // the last entry that next() delivered
  private var isAgain            = false                  // the current entry is delivered once more
  private var isUncertain        = false                  // work failed, perhaps in the middle
  private var isSilent           = false                  // the feed had nothing more after the last entry
  private var silentAt           = nanos()                // when that was last so, in any feed, or the tail was made
  private var outageMillis       = 0L                     // the longest one of feeds that were replaced
  private var stoodAt            = Option.empty[Position] // the last entry, if nothing can have been stored after it
  private var isDeleted          = false

  // of the reader that has the tail now
  private var losses      = new DataLossPolicy(options.failOnDataLoss)
  private var rejected    = 0L
  private var reconnected = 0L

  override def ledgerId: Long        = admitted.ledgerId
  override def entryId: Long         = admitted.entryId
  override def entry: ByteBuf        = feed.entry
  override def lost: LostRanges      = losses.lost
  override def reconnects: Long      = feed.reconnects - reconnected
  override def rejectedEntries: Long = guard.rejected - rejected
  override def level: Tier           = Tier.Broker

  override def leaveToBroker(undecided: UndecidedTransaction): Unit = throw undecided

  /** Gives the tail to a reader.
    *
    * @param expected
    *   a message that is known to exist
    * @param changed
    *   is called, on any thread, when [[next]] may deliver
    */
  def lend(expected: Position, changed: Runnable): Unit = {
    losses = new DataLossPolicy(options.failOnDataLoss)
    rejected = guard.rejected
    reconnected = feed.reconnects
    if (expected > known) known = expected
    listener = changed
    feed.onArrival(changed)
  }

  /** True if the tail can be left to the next reader: it delivers more, and no work is under way. */
  def isIdle: Boolean = pending.isEmpty && !isDeleted && feed.isAlive

  /** Waits for the next reader, with memory of the room. False when it has none. Only when [[isIdle]]. */
  def waitIn(room: WaitingRoom): Boolean = feed.waitIn(room)

  /** A reader has the tail again. */
  def leaveRoom(): Unit = feed.leaveRoom()

  /** Delivers the current entry once more: its reader has not read all messages of it. */
  def repeat(): Unit = isAgain = true

  override def next(): Boolean =
    if (isAgain) {
      isAgain = false
      true
    } else advance()

  /** Opens the feed, opens it again, or looks at silence where that is due. Call it about once a second. */
  def look(): Unit = if (pending.isEmpty && !isDeleted && !outage.isResting)
    if (!feed.isAlive) listener.run()
    else if (!isAgain && silence.needsLook(feed.last < known)) begin { () =>
      val isBehind = feed.last < known || feed.bounds().last > feed.last
      () => if (isBehind) replaced() else Arrival.Skipped
    }

  @tailrec
  private def advance(): Boolean = arrival() match {
    case Arrival.Silence => false
    case Arrival.Next    =>
      if (admit()) true else advance()
    case Arrival.NextAfterLoss =>
      if (!stoodAt.contains(feed.last)) losses.report(Conditions.DataLossTrimmed(topic = range.topic,
        from = feed.last.toString, to = feed.position.toString,
        reason = s"the next message there is has position ${feed.position}"))
      if (admit()) true else advance()
    case Arrival.Unproven =>
      if ((isSilent || stoodEmpty) && feed.hasWatched(known)) stoodAt = Some(feed.last)
      begin { () =>
        val proof = feed.prove(feed.last)
        () => proof
      }
      advance()
    case Arrival.Broken =>
      if (outage.broke()) throw Conditions.RealTimeFeedBroken(topic = range.topic, position = feed.last.toString,
        waited = options.pollTimeout.toMillis.toString).exception
      reopen()
      advance()
    case Arrival.Rejected =>
      guard.reject(feed.position, feed.last)
      advance()
    case Arrival.Skipped => advance()
  }

  /** True if nothing was stored before a short outage, or shortly before the tail was made. An unload drops the empty
    * ledger, and the entry after it may arrive before the feed that was opened again is silent once.
    */
  private def stoodEmpty: Boolean =
    feed.last.isBeforeLedger && outageMillis + (nanos() - silentAt) / 1000000 <= FeedTimes.MaxOutageMillis

  /** The result of the work under way, or what the feed has. */
  private def arrival(): Arrival = pending match {
    case Some(work) if !work.isDone => Arrival.Silence
    case Some(work)                 =>
      pending = None
      settled(work)
    case None if isDeleted || outage.isResting => Arrival.Silence
    case None if isUncertain || !feed.isOpen   =>
      isUncertain = false
      begin(opening(if (feed.isOpen) feed.reopen(feed.last) else feed.open(feed.last)))
      Arrival.Skipped
    case None =>
      val result = feed.arrive(0)
      if (result == Arrival.Silence) {
        isSilent = true
        silentAt = nanos()
      }
      result
  }

  private def settled(work: CompletableFuture[() => Arrival]): Arrival = Try(work.join()) match {
    case Success(result) =>
      outage.responded()
      result()
    case Failure(e) =>
      val cause = e match {
        case wrapped: CompletionException if wrapped.getCause != null => wrapped.getCause
        case other                                                    => other
      }
      if (outage.failed()) throw cause
      isUncertain = true
      log.warn("{}: trying again after {}: {}", range.topic, feed.last, cause.getMessage: Any)
      Arrival.Silence
  }

  private def admit(): Boolean = {
    val isDue = guard.admits(feed.position, admitted)
    feed.take()
    silence.ended()
    outage.delivered()
    isSilent = false
    stoodAt = None
    if (isDue) admitted = feed.position
    isDue
  }

  private def reopen(): Unit = {
    silence.ended()
    begin(opening(feed.reopen(feed.last)))
  }

  /** A look found that messages are missing: another feed takes over. */
  private def replaced(): Arrival = {
    log.warn("{}: messages after {} exist and do not arrive; another reader is opened", range.topic, feed.last: Any)
    begin(opening(feed.reopen(feed.last)))
    Arrival.Skipped
  }

  private def opening(open: => Option[FeedBounds]): Work = {
    isSilent = false
    if (feed.isOpen) outageMillis = math.max(outageMillis, feed.longestOutageMillis)
    () => {
      val answer = open
      () => {
        if (answer.isEmpty) {
          isDeleted = true
          losses.report(TopicLosses.deleted(range.topic, feed.last, "its end"))
        }
        Arrival.Skipped
      }
    }
  }

  private def begin(work: Work): Unit = {
    val result = background(work)
    pending = Some(result)
    result.whenComplete((_, _) => listener.run())
    ()
  }

  /** Closes without waiting, after the work under way. */
  override def close(): Unit = {
    def end(): Unit = { feed.closeAsync(); () }
    pending.fold(end())(_.whenComplete((_, _) => end()))
    pending = None
    isDeleted = true
  }
}

private[tail] object TailEntrySource {
  private val log = LoggerFactory.getLogger(classOf[TailEntrySource])

  /** Uses the feed on another thread; what it returns is run on the thread of the reader. */
  type Work = () => () => Arrival
}
