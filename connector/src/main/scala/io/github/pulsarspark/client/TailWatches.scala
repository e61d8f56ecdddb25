package io.github.pulsarspark.client

import java.util.concurrent.CompletableFuture

import scala.collection.concurrent.TrieMap

import org.apache.pulsar.client.impl.EntryConsumer
import org.slf4j.LoggerFactory

import io.github.pulsarspark.offsets.Position

/** Watches whether anything comes after positions at which a stream stands.
  *
  * When the ledger of such a position disappears, the first and last position of the partition do not tell whether messages went with it: an empty ledger is
  * dropped when its topic is unloaded, and one that was read to its end is trimmed in time. A consumer that stands there is sent whatever is published, between
  * two triggers too. An outage that is too long proves nothing any more.
  */
private[client] final class TailWatches(open: (String, Position) => CompletableFuture[EntryConsumer], answers: Answers) {
  import TailWatches._

  private val watches = TrieMap.empty[String, Watch]

  /** Watches these positions, and nothing else. */
  def watch(positions: Map[String, Position]): Unit = {
    watches.filterNot { case (partition, w) => positions.get(partition).contains(w.after) && !w.consumer.isGone }.foreach {
      case (partition, w) =>
        watches.remove(partition)
        w.consumer.closeAsync()
    }
    answers.awaitAll(positions.toSeq.filterNot(p => watches.contains(p._1)))(p => s"Watching ${p._1} after ${p._2}") {
      case (partition, after) =>
        open(partition, after).handle[Unit] { (consumer, failure) =>
          if (failure == null) watches.put(partition, Watch(after, consumer))
          else log.info(
            "{}: cannot be watched after {}: {}",
            partition,
            after,
            failure.toString
          ) // which only means that nothing will be known
        }
    }
  }

  /** The position of this partition that is watched. */
  def after(partition: String): Option[Position] = watches.get(partition).map(_.after)

  /** The position that is watched, if it is known that nothing was ever published after it and up to `first`, where the partition begins now. */
  def emptyBefore(partition: String, first: Position): Option[Position] =
    watches.get(partition).filter(_.sawNothingBefore(first)).map { w =>
      log.info("{}: nothing came after {} before its ledger was dropped; the partition begins at {} now", partition, w.after, first)
      w.after
    }

  def closeAll(): Seq[CompletableFuture[Void]] = {
    val closing = watches.values.map(_.consumer.closeAsync()).toSeq
    watches.clear()
    closing
  }
}

private object TailWatches {
  private val log = LoggerFactory.getLogger(classOf[TailWatches])

  /** Below the shortest retention time that a policy can name, a minute. */
  private val LongestOutageMillis = 45000L

  private final case class Watch(after: Position, consumer: EntryConsumer) {
    def sawNothingBefore(first: Position): Boolean =
      after < first && !consumer.isGone && consumer.longestOutageMillis <= LongestOutageMillis &&
        Option(consumer.firstReceived).forall(e => Position(e.ledgerId, e.entryId) > first)
  }
}
