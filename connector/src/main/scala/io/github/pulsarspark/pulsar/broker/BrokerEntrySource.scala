package io.github.pulsarspark.pulsar.broker

import java.util.concurrent.CompletableFuture

import scala.annotation.tailrec
import scala.util.Try
import scala.util.control.NonFatal

import io.netty.buffer.ByteBuf
import org.slf4j.LoggerFactory

import io.github.pulsarspark.errors.{Conditions, DataLossPolicy, LostRanges}
import io.github.pulsarspark.format.RangeGuard
import io.github.pulsarspark.options.ReadOptions
import io.github.pulsarspark.position.{OffsetRange, Position}
import io.github.pulsarspark.pulsar.connection.{ClientPool, ClusterCalls}
import io.github.pulsarspark.pulsar.feed.{BrokerFeeds, ContinuousFeed, EntryFeeds, FeedBounds, WaitingRoom}
import io.github.pulsarspark.pulsar.feed.ContinuousFeed.Arrival
import io.github.pulsarspark.pulsar.topics.TopicLosses

/** Entries of a range as the broker dispatches them: a [[ContinuousFeed]] up to a [[RangeEnd]]. */
private[pulsar] final class BrokerEntrySource(
    feeds: EntryFeeds,
    answers: ClusterCalls,
    range: OffsetRange,
    options: ReadOptions,
    private var guard: RangeGuard
) extends GrowingEntrySource {
  import BrokerEntrySource._

  private val feed     = new ContinuousFeed(feeds, answers, range.topic, range.startExclusive.entryBefore, options)
  private val end      = new RangeEnd(range, options.readCompacted)
  private val patience = new Patience(options.pollTimeout)
  private var losses   = new DataLossPolicy(options.failOnDataLoss)

  override def ledgerId: Long   = feed.position.ledgerId
  override def entryId: Long    = feed.position.entryId
  override def entry: ByteBuf   = feed.entry
  override def lost: LostRanges = losses.lost
  override def reconnects: Long = feed.reconnects

  override def next(): Boolean = {
    feed.release()
    patience.begin()
    if (!feed.isOpen && !end.isReached) {
      opened(feed.open(end.due))
      patience.goOn()
    }
    advance()
  }

  override def extendTo(position: Position): Unit = end.moveTo(position, feed.last)

  override def release(): Unit = feed.release()

  /** True if everything up to the end and nothing after it was read, and the feed can deliver more. */
  def isAtEnd: Boolean = end.isAt(feed.last) && feed.isAlive

  /** Waits for the next task, with memory of the room. False when it has none. Call it only when [[isAtEnd]]. */
  def waitIn(room: WaitingRoom): Boolean = {
    feed.release()
    feed.waitIn(room)
  }

  /** Continues with a range that begins where the last one ended. Call it only after [[waitIn]], when [[isAtEnd]].
    *
    * @param guard
    *   of that range
    */
  def continueTo(end: Position, guard: RangeGuard): Unit = {
    feed.leaveRoom()
    this.guard = guard
    losses = new DataLossPolicy(options.failOnDataLoss)
    extendTo(end)
  }

  override def close(): Unit = {
    end.reach()
    try feed.close()
    catch { case NonFatal(e) => log.warn("closing the reader of {}: {}", range.topic, e.toString: Any) }
  }

  /** Closes without waiting. */
  def closeAsync(): CompletableFuture[Void] = {
    end.reach()
    feed.closeAsync()
  }

  @tailrec
  private def advance(): Boolean =
    if (end.isReached) false
    else if (end.isInDoubt(feed.last)) {
      reopen()
      advance()
    } else
      feed.next(patience.nextMillis(), end.due) match {
        case Arrival.Next          => admit()
        case Arrival.NextAfterLoss =>
          losses.report(
            Conditions.DataLossTrimmed(topic = range.topic, from = feed.last.toString, to = feed.position.toString,
              reason = s"the next message there is has position ${feed.position}")
          )
          admit()
        case Arrival.Silence =>
          lookAgain()
          advance()
        case other =>
          if (other == Arrival.Rejected) guard.reject(feed.position, feed.last)
          if (other == Arrival.Broken) reopen()
          patience.goOn()
          advance()
      }

  private def admit(): Boolean = {
    val result = end.admits(feed.position)
    if (result) feed.take()
    result
  }

  /** Handles a wait without an entry: requests the bounds, and replaces the feed if it is silent or cannot deliver. */
  private def lookAgain(): Unit = {
    // a broker that does not respond now may do so before the wait is over
    val isReplaced = Try(feed.bounds()).toOption.exists { bounds =>
      val isSilent = patience.isSilent()
      val result   = isSilent || !end.mayArrive(bounds, feed.isInFirstSession)
      if (result) reopen()
      result
    }
    if (patience.isOver && !end.isReached) throw timedOut
    if (isReplaced) patience.goOn()
  }

  private def reopen(): Unit = {
    if (!patience.mayReopen()) throw timedOut
    opened(feed.reopen(end.due))
  }

  private def opened(answer: Option[FeedBounds]): Unit = answer match {
    case Some(bounds) => end.topicEnds(bounds.last, feed.last)(losses.report)
    case None         =>
      losses.report(TopicLosses.deleted(range.topic, feed.last, end.position.toString))
      end.reach()
  }

  private def timedOut = Conditions.ReadTimeout(topic = range.topic, position = feed.last.toString,
    waited = options.pollTimeout.toMillis.toString, end = end.position.toString).exception
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
}
