package io.github.pulsarspark.pulsar.broker

import java.util.concurrent.{CompletableFuture, TimeUnit, TimeoutException}

import scala.collection.concurrent.TrieMap
import scala.concurrent.duration._
import scala.util.control.NonFatal

import org.slf4j.LoggerFactory

import io.github.pulsarspark.position.Position
import io.github.pulsarspark.pulsar.connection.ClusterCalls
import io.github.pulsarspark.pulsar.feed.{FeedTimes, PartitionFeed, PendingFeed, PositionFeed}

/** Watches whether anything arrives after positions at which a stream stands. A consumer that stands there is sent
  * whatever is published, between two triggers too. So it answers two questions:
  *
  *   - Is there anything new? As long as nothing arrives in the session in which the partition was last requested, no
  *     request is necessary.
  *   - Is anything lost? When the ledger of such a position disappears, the first and last position of the partition do
  *     not show whether messages went with it: an empty ledger is dropped when its topic is unloaded, and one that was
  *     read to its end is trimmed in time. A ledger that disappears while the watch is not connected proves nothing.
  *
  * It does not notice messages that were the first of a ledger, published less than a moment before an unload, and
  * deleted before the watch is connected again, which only an administrator or a namespace without retention does.
  */
private[pulsar] final class IdleTailMonitor(
    openFeed: (String, Position) => PendingFeed[_ <: PositionFeed],
    answers: ClusterCalls
) {
  import IdleTailMonitor._

  private val watches = TrieMap.empty[String, Watch]

  private var lastOpened = "" // partition

  /** Watches these positions. A watch follows a position that moved to the newest entry that arrived. Otherwise it
    * stays where it is and serves requests, until the position is idle or another consumer serves them.
    *
    * @param positions
    *   the ends of partitions, at which a stream stands
    * @param idle
    *   those of them for which a consumer may be opened
    * @param isReplaced
    *   whether another consumer serves requests about this partition
    */
  def watch(positions: Map[String, Position], idle: Set[String], isReplaced: String => Boolean): Unit = {
    watches.foreach { case (partition, w) =>
      val stays = !w.feed.isGone && positions.get(partition).contains(w.after)
      if (!stays && !follows(partition, w, positions.get(partition)))
        if (w.feed.isGone || idle(partition) || isReplaced(partition)) close(partition)
    }
    try open(inTurn(positions.keys.filter(p => idle(p) && !watches.contains(p)).toSeq).map(p => p -> positions(p)))
    catch { case NonFatal(e) => log.info("positions cannot be watched: {}", e.getMessage) } // so nothing will be known
  }

  /** The next partitions to open, round-robin: at most `MaxOpened`, after those of the previous call. Some may fail
    * each time.
    */
  private def inTurn(partitions: Seq[String]): Seq[String] =
    if (partitions.size <= MaxOpened) partitions
    else {
      val (before, after) = partitions.sorted.partition(_ <= lastOpened)
      val result          = (after ++ before).take(MaxOpened)
      lastOpened = result.last
      result
    }

  private def follows(partition: String, w: Watch, position: Option[Position]): Boolean = {
    val next = position.filter(at => !w.feed.isGone && w.openFeed.exists(_.waitAfter(place(at))))
    next.foreach(at => watches.put(partition, w.copy(after = at)))
    next.isDefined
  }

  /** Ends the watches of other partitions. */
  def retain(partitions: String => Boolean): Unit = watches.keys.filterNot(partitions).toSeq.foreach(close)

  private def close(partition: String): Unit = watches.remove(partition).foreach(_.feed.close())

  private def open(positions: Seq[(String, Position)]): Unit = {
    answers.awaitAll(positions)(p => s"Watching ${p._1} after ${p._2}") { case (partition, after) =>
      val feed = openFeed(partition, after)
      watches.put(partition, Watch(after, feed))
      feed.whenOpen.handle[Unit] { (consumer, failure) =>
        if (failure == null) consumer.resume()
        else log.info("{}: cannot be watched after {}: {}", partition, after, failure.toString)
      }
    }
    ()
  }

  /** The position of this partition that is watched. */
  def after(partition: String): Option[Position] = watches.get(partition).map(_.after)

  /** True if a watch of this partition is open, so that nothing else needs to request its bounds. */
  def isOpen(partition: String): Boolean = watches.get(partition).exists(_.openFeed.exists(!_.isGone))

  /** True if nothing arrived after the watched position since the bounds of this partition were [[answered]], and no
    * entry can have been missed.
    */
  def isQuiet(partition: String): Boolean = watches.get(partition).exists { w =>
    w.openFeed.exists(f => f.first == null && f.isConnected && w.answered.contains(f.session))
  }

  /** Requests the bounds of these partitions through their watches. Skips partitions without a watch or whose watch
    * fails.
    */
  def request(partitions: Seq[String]): Map[String, Answer] =
    answers
      .awaitAll(partitions.flatMap(p => watches.get(p).map(p -> _)), Parallelism)(w =>
        s"Requesting the last position of ${w._1}"
      ) { case (partition, w) =>
        w.openFeed.filterNot(_.isGone).fold(Nothing)(feed => ask(partition, w, feed))
      }
      .flatten
      .toMap

  private def ask(partition: String, w: Watch, feed: PositionFeed): CompletableFuture[Option[(String, Answer)]] = {
    val session = feed.session
    feed.bounds().copy().orTimeout(FeedTimes.UnansweredMillis, TimeUnit.MILLISECONDS).handle[Option[(String, Answer)]] {
      (bounds, failure) =>
        if (failure != null) log.debug("{}: the watch does not answer: {}", partition, failure.toString: Any)
        if (failure.isInstanceOf[TimeoutException]) close(partition) // it may never answer
        Option.when(failure == null)(partition -> Answer(w, bounds, session)) // else a probe answers, or fails
    }
  }

  /** Records that the bounds of the partition are known as of this response. */
  def answered(partition: String, answer: Answer): Unit =
    watches.get(partition).foreach(w => watches.put(partition, w.copy(answered = Some(answer.session))))

  /** Open watches that no other consumer has confirmed yet, [[SettleTime]] after they subscribed. A broker forgets a
    * consumer that subscribes while the topic is unloaded: that consumer gets stale responses and no entries.
    *
    * @param now
    *   the time by `System.nanoTime`
    */
  def unconfirmed(now: Long): Set[String] = watches.flatMap { case (partition, w) =>
    w.openFeed.flatMap { feed =>
      w.seen.filter(_.session == feed.session) match {
        case Some(seen) => Option.when(!seen.isConfirmed && now - seen.at >= SettleTime.toNanos)(partition)
        case None       =>
          watches.put(partition, w.copy(seen = Some(Seen(feed.session, now, isConfirmed = false))))
          None
      }
    }
  }.take(MaxOpened).toSet

  /** Records that another consumer reported this last message. Closes a watch that should have received it. */
  def confirm(partition: String, last: Position): Unit = watches.get(partition).foreach { w =>
    val isForgotten = !last.isBeforeLedger && last > w.after && w.openFeed.exists(_.first == null)
    if (isForgotten) {
      log.info("{}: the watch after {} has not received {}, so another one replaces it", partition, w.after, last)
      close(partition)
    } else watches.put(partition, w.copy(seen = w.seen.map(_.copy(isConfirmed = true))))
  }

  /** The watched positions after which it is certain that nothing was ever published up to where their partitions begin
    * now.
    *
    * @param firsts
    *   the place before the first message of each partition, now
    */
  def emptyBefore(firsts: Map[String, Position]): Map[String, Position] = {
    val moved = firsts.toSeq.flatMap { case (p, first) => watches.get(p).filter(_.after < first).map(p -> _) }
    // a watch without a response does not know what has happened since then
    answers
      .awaitAll(moved)(w => s"Requesting the end from the watch of ${w._1}") { case (partition, w) =>
        val answer = w.feed.whenOpen
          .thenCompose[PartitionFeed.Bounds](
            _.bounds().copy().orTimeout(FeedTimes.UnansweredMillis, TimeUnit.MILLISECONDS)
          )
        answer.handle[Option[(String, Position)]] { (bounds, failure) =>
          val first = firsts(partition)
          if (failure == null && knows(first, last(bounds)) && w.sawNothingBefore(first)) {
            log.info(
              "{}: nothing arrived after {} before its ledger was dropped; the partition begins at {} now",
              partition,
              w.after,
              first
            )
            Some(partition -> w.after)
          } else None
        }
      }
      .flatten
      .toMap
  }

  def closeAll(): Seq[CompletableFuture[Void]] = {
    val closing = watches.values.map(_.feed.close()).toSeq
    watches.clear()
    closing
  }
}

private[pulsar] object IdleTailMonitor {
  private val log = LoggerFactory.getLogger(classOf[IdleTailMonitor])

  /** Partitions whose bounds are requested at the same time. */
  val Parallelism = 128

  /** Watches that are opened at a time; a trigger waits for them. */
  private val MaxOpened = 256

  private val Nothing = CompletableFuture.completedFuture(Option.empty[(String, Answer)])

  /** Time after which an unload during which the watch may have subscribed is over. */
  val SettleTime: FiniteDuration = 10.seconds

  private def last(bounds: PartitionFeed.Bounds) = Position(bounds.lastLedgerId, bounds.lastEntryId)

  /** True if the response is of a broker that has the current state of the partition. A consumer that the broker has
    * forgotten reports a message of an earlier ledger. An empty topic has no last message.
    */
  private def knows(first: Position, last: Position) = last.isBeforeLedger || last >= first

  private def place(position: Position) = new PartitionFeed.Place(position.ledgerId, position.entryId)

  /** Response of a broker to a watch.
    *
    * @param last
    *   the last message
    * @param isSameSession
    *   whether the session is that of the previous response
    */
  final case class Answer(after: Position, last: Position, isSameSession: Boolean, session: Int)

  private object Answer {
    def apply(w: Watch, bounds: PartitionFeed.Bounds, session: Int): Answer =
      new Answer(w.after, last(bounds), w.answered.contains(session), session)
  }

  /** @param at
    *   when this session was seen first
    */
  private final case class Seen(session: Int, at: Long, isConfirmed: Boolean)

  /** @param answered
    *   the session in which the bounds of the partition were requested last
    */
  private final case class Watch(
      after: Position,
      feed: PendingFeed[_ <: PositionFeed],
      answered: Option[Int] = None,
      seen: Option[Seen] = None
  ) {
    def openFeed: Option[PositionFeed] = feed.ifOpen

    /** True if nothing can have been published after the watched position and before this one. An outage in which the
      * ledger of the position disappeared proves nothing, unless nothing was ever read of that ledger: an unload drops
      * an empty one.
      */
    def sawNothingBefore(first: Position): Boolean = openFeed.exists { consumer =>
      val isShortOutage = after.isBeforeLedger && consumer.longestOutageMillis <= FeedTimes.MaxOutageMillis
      !consumer.isGone && (consumer.isUnbroken || isShortOutage) &&
      Option(consumer.first).forall(e => Position(e.ledgerId, e.entryId) > first)
    }
  }
}
