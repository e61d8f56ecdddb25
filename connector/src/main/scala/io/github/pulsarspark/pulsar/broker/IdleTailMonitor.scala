package io.github.pulsarspark.pulsar.broker

import java.util.concurrent.CompletableFuture

import scala.collection.concurrent.TrieMap
import scala.util.control.NonFatal

import org.slf4j.LoggerFactory

import io.github.pulsarspark.position.Position
import io.github.pulsarspark.pulsar.connection.ClusterCalls

/** Watches whether anything arrives after positions at which a stream stands.
  *
  * When the ledger of such a position disappears, the first and last position of the partition do not show whether
  * messages went with it: an empty ledger is dropped when its topic is unloaded, and one that was read to its end is
  * trimmed in time. A consumer that stands there is sent whatever is published, between two triggers too. An outage
  * that is too long proves nothing any more.
  */
private[pulsar] final class IdleTailMonitor(
    openFeed: (String, Position) => PendingFeed[_ <: EntryFeed],
    answers: ClusterCalls
) {
  import IdleTailMonitor._

  private val watches = TrieMap.empty[String, Watch]

  /** Watches these positions, and nothing else. */
  def watch(positions: Map[String, Position]): Unit = {
    watches.filterNot { case (partition, w) => positions.get(partition).contains(w.after) && !w.feed.isGone }.foreach {
      case (partition, w) =>
        watches.remove(partition)
        w.feed.close()
    }
    try open(positions.filterNot(p => watches.contains(p._1)))
    catch { case NonFatal(e) => log.info("positions cannot be watched: {}", e.getMessage) } // so nothing will be known
  }

  private def open(positions: Map[String, Position]): Unit = {
    answers.awaitAll(positions.toSeq)(p => s"Watching ${p._1} after ${p._2}") { case (partition, after) =>
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

  /** The watched positions after which it is certain that nothing was ever published up to where their partitions begin
    * now.
    *
    * @param firsts
    *   the place before the first message of each partition, now
    */
  def emptyBefore(firsts: Map[String, Position]): Map[String, Position] = {
    val moved = watches.toSeq.filter { case (partition, w) => firsts.get(partition).exists(w.after < _) }
    // a watch that does not answer by itself does not know what happened meanwhile
    answers
      .awaitAll(moved)(w => s"Asking the watch of ${w._1}") { case (partition, w) =>
        w.feed.whenOpen.thenCompose[EntryFeed.Bounds](_.bounds()).handle[Option[(String, Position)]] { (_, failure) =>
          val first = firsts(partition)
          if (failure == null && w.sawNothingBefore(first)) {
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

private object IdleTailMonitor {
  private val log = LoggerFactory.getLogger(classOf[IdleTailMonitor])

  /** Below the shortest retention time that a policy can name, a minute. */
  private val LongestOutageMillis = 45000L

  private final case class Watch(after: Position, feed: PendingFeed[_ <: EntryFeed]) {
    def sawNothingBefore(first: Position): Boolean = feed.ifOpen.exists { consumer =>
      !consumer.isGone && consumer.longestOutageMillis <= LongestOutageMillis &&
      Option(consumer.first).forall(e => Position(e.ledgerId, e.entryId) > first)
    }
  }
}
