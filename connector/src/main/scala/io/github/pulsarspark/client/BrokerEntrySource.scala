package io.github.pulsarspark.client

import java.util.concurrent.TimeUnit

import scala.annotation.tailrec
import scala.util.{Failure, Success, Try}
import scala.util.control.NonFatal

import io.netty.buffer.ByteBuf
import org.apache.pulsar.client.api.PulsarClientException
import org.apache.pulsar.client.impl.{EntryConsumer, MessageIdImpl}
import org.slf4j.LoggerFactory

import io.github.pulsarspark.errors.{DataLossPolicy, PulsarErrors}
import io.github.pulsarspark.log.EntrySource
import io.github.pulsarspark.offsets.{OffsetRange, Position}
import io.github.pulsarspark.options.ReadOptions

/** Entries of a range as the broker dispatches them.
  *
  * Positions are compared, not trusted. The broker is asked to begin with the entry before the first wanted one: its arrival proves that nothing is missing
  * between them. Wherever entries do not follow each other (at markers, aborted transactions and the end of a ledger, but also after trimming or expiry under
  * our feet), the broker is asked whether it moved our cursor. If it did, the consumer is opened again after the last entry taken; when the broker then puts the
  * cursor beyond that place at once, what is between them is gone. When it does not, and the same entry comes first again, there is nothing between them that
  * anybody could read: the broker acknowledges markers and aborted transactions itself, which moves the cursor over those that a range begins with.
  */
private[pulsarspark] final class BrokerEntrySource(lease: ClientLease, range: OffsetRange, options: ReadOptions) extends EntrySource {
  import BrokerEntrySource._

  private val answers   = new Answers(lease.options, lease.options.serviceUrl)
  private val window    = new ReadAhead(options.readAheadBytes, options.readAheadMessages)
  private val losses    = new DataLossPolicy(options.failOnDataLoss)
  private val partition = TopicNames.partitionIndex(range.topic)

  /** The last entry read as a whole, or that counts as read. */
  private var last = if (range.startExclusive.isWholeEntry) range.startExclusive
  else Position(range.startExclusive.ledgerId, range.startExclusive.entryId - 1)
  private var stop = range.endInclusive.wholeEntry
  private var done = false

  /** No entry has come since the consumer was opened. */
  private var fresh = true

  /** Where the topic ended and our cursor stood when the consumer was opened, before anything could move the cursor. */
  private var opened: EntryConsumer.Bounds = _

  /** What came before the consumer was opened again. */
  private var cameBefore: Option[Position] = None
  private var consumer: EntryConsumer      = _
  private var current: EntryConsumer.Entry = _

  override def ledgerId: Long   = current.ledgerId
  override def entryId: Long    = current.entryId
  override def entry: ByteBuf   = current.buffer
  override def lostRanges: Long = losses.lostRanges

  override def next(): Boolean = {
    releaseCurrent()
    if (consumer == null) {
      consumer = open()
      stopWhereTheTopicEnds(opened)
    }
    advance()
  }

  @tailrec
  private def advance(): Boolean =
    if (done) false
    else
      take() match {
        case None        => advance() // the topic turned out to end earlier
        case Some(taken) =>
          val position = Position(taken.ledgerId, taken.entryId)
          val isProof  = position == last
          val isGap    = !isProof && !follows(position) && cursorWasMoved
          val isLoss   = isGap && fresh && markDelete(opened) > last
          if (isProof || isGap && !isLoss && !(fresh && cameBefore.contains(position))) {
            window.refill(consumer, taken)
            taken.buffer.release()
            cameBefore = Some(position)
            if (isGap) reopen() else fresh = false
            advance()
          } else {
            if (isLoss) reportLoss(position, s"the next message there is has position $position")
            accept(taken, position)
          }
      }

  private def accept(taken: EntryConsumer.Entry, position: Position): Boolean = {
    fresh = false
    done = position >= stop
    if (position > stop) {
      taken.buffer.release()
      false
    } else {
      window.refill(consumer, taken)
      current = taken
      last = position
      true
    }
  }

  override def close(): Unit = {
    done = true
    releaseCurrent()
    try if (consumer != null) closeConsumer()
    catch { case NonFatal(e) => log.warn("closing the reader of {}: {}", range.topic, e.toString: Any) }
    finally lease.close()
  }

  private def follows(position: Position): Boolean = position.ledgerId == last.ledgerId && position.entryId == last.entryId + 1

  /** The next entry, which is known to exist. None when a closer look shows that it is gone and the query may go on without it. */
  private def take(): Option[EntryConsumer.Entry] = {
    val deadline = System.nanoTime() + options.pollTimeout.toNanos
    var entry    = poll(math.min(options.pollTimeout.toMillis, SecondLookMillis))
    while (entry == null && !done) {
      Try(ask()).foreach(lookAgain) // a broker that does not answer now may do so before the deadline
      val left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime())
      if (left <= 0 && !done) throw timedOut
      if (!done) entry = poll(math.min(left, SecondLookMillis))
    }
    Option(entry)
  }

  /** No entry comes. Expiry may have moved the cursor beyond everything there is, so that none would ever come. */
  private def lookAgain(bounds: EntryConsumer.Bounds): Unit = {
    stopWhereTheTopicEnds(bounds)
    if (!done && markDelete(bounds) >= stop) reopen()
  }

  private def poll(millis: Long): EntryConsumer.Entry =
    try consumer.poll(millis, TimeUnit.MILLISECONDS)
    catch { case e: PulsarClientException => throw answers.explain(s"Reading ${range.topic} after $last", e) }

  private def timedOut = PulsarErrors(
    "PULSAR_READ_TIMEOUT",
    "topic"    -> range.topic,
    "position" -> last.toString,
    "waited"   -> options.pollTimeout.toMillis.toString,
    "end"      -> range.endInclusive.toString
  )

  /** Nothing is acknowledged here, so the cursor stays before the range unless the broker moves it. */
  private def cursorWasMoved: Boolean = markDelete(askUntil(System.nanoTime() + options.pollTimeout.toNanos)) > last

  /** An outage may last as long here as where an entry is awaited. */
  @tailrec
  private def askUntil(deadline: Long): EntryConsumer.Bounds = Try(ask()) match {
    case Success(bounds)                                                     => bounds
    case Failure(e) if consumer.isGone || System.nanoTime() - deadline >= 0L => throw e
    case Failure(_)                                                          =>
      TimeUnit.MILLISECONDS.sleep(RetryMillis)
      askUntil(deadline)
  }

  private def markDelete(bounds: EntryConsumer.Bounds) = Position(bounds.markDeleteLedgerId, bounds.markDeleteEntryId)

  /** The end of a range is a message that existed when it was planned; only compaction may rightly have removed it. */
  private def stopWhereTheTopicEnds(bounds: EntryConsumer.Bounds): Unit = {
    val end = Position(bounds.lastLedgerId, bounds.lastEntryId)
    if (end.isBeforeLedger) {
      if (last < stop && !options.readCompacted) reportLoss(range.endInclusive, "the topic is empty now")
      done = true
    } else if (end < stop) {
      if (!options.readCompacted) reportLoss(range.endInclusive, s"the topic ends at $end now")
      stop = end
      done = stop <= last
    }
  }

  private def reportLoss(to: Position, reason: String): Unit = losses.report(range.topic, last.toString, to.toString, reason)

  private def ask(): EntryConsumer.Bounds = answers.await(s"Asking for the bounds of ${range.topic}")(consumer.bounds())

  private def reopen(): Unit = {
    log.info("{}: the broker moved the cursor beyond {}; reading again from there", range.topic, last: Any)
    closeConsumer()
    consumer = open()
  }

  private def open(): EntryConsumer = {
    val start        = new MessageIdImpl(last.ledgerId, last.entryId, partition)
    val subscription = SubscriptionNames.fresh(options.subscriptionPrefix, "task")
    window.restart()
    fresh = true
    val made = answers.await(s"Opening ${range.topic} at $last")(
      EntryConsumer.open(
        lease.client,
        range.topic,
        partition,
        subscription,
        options.readerName.orNull,
        window.first,
        start,
        options.readCompacted
      )
    )
    opened = answers.await(s"Asking for the bounds of ${range.topic}")(made.bounds())
    made.resume()
    made
  }

  private def closeConsumer(): Unit = answers.await(s"Closing the reader of ${range.topic}")(consumer.closeAsync())

  private def releaseCurrent(): Unit = if (current != null) {
    current.buffer.release()
    current = null
  }
}

private[client] object BrokerEntrySource {
  private val log = LoggerFactory.getLogger(classOf[BrokerEntrySource])

  /** When no entry comes for this long, the broker is asked whether it is still there. */
  private val SecondLookMillis = 5000L

  /** Between two questions of which the first was refused at once. */
  private val RetryMillis = 100L
}
