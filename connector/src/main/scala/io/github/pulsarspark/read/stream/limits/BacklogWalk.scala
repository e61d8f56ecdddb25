package io.github.pulsarspark.read.stream.limits

import java.util.concurrent.atomic.AtomicBoolean

import scala.annotation.tailrec
import scala.collection.mutable
import scala.concurrent.duration._
import scala.util.control.NonFatal

import org.slf4j.LoggerFactory

import io.github.pulsarspark.common.BlockingParallel
import io.github.pulsarspark.position.{OffsetRange, Position}

/** Decides where the micro-batches of a stream with limits end. Counts messages with one [[PartitionWalk]] for each
  * partition, several at a time; a walk stays open from trigger to trigger. For one thread, which may be interrupted.
  *
  * @param open
  *   begins a walk; does not wait
  * @param patience
  *   after this time a trigger takes what was counted so far
  * @param nanos
  *   the clock
  */
private[stream] final class BacklogWalk(
    open: OffsetRange => PartitionWalk,
    patience: FiniteDuration,
    nanos: () => Long = () => System.nanoTime()
) extends AutoCloseable {
  import BacklogWalk._

  private val threads                 = new BlockingParallel("pulsar-backlog", Threads)
  private val walks                   = mutable.LinkedHashMap.empty[String, PartitionWalk] // used last = last
  private var served                  = ""                                                 // partition
  private var lastBatch: Option[Long] = None

  /** Ends of the next micro-batch in these ranges. At least one end is after its start, unless the trigger waits for
    * more messages.
    *
    * @param backlog
    *   ranges that are not empty, from what was read to the last message
    * @param partitions
    *   all that exist
    */
  def ends(
      backlog: Seq[OffsetRange],
      partitions: collection.Set[String],
      budget: TriggerBudget
  ): Map[String, Position] =
    try {
      val current = backlog.map(r => r.topic -> r).toMap
      close(walks.toSeq.collect { case (p, w) if !partitions(p) || current.get(p).exists(!w.continue(_)) => p })
      val now   = nanos()
      val isDue = (lastBatch zip budget.minimum).forall { case (last, (_, millis)) => (now - last) / 1000000 >= millis }
      if (lastBatch.isEmpty) lastBatch = Some(now)
      if (backlog.isEmpty) Map.empty
      else if (!isDue && !reachesMinimum(current, budget)) {
        closeOldest()
        current.view.mapValues(_.startExclusive).toMap
      } else {
        lastBatch = Some(now)
        if (budget.rows.isEmpty && budget.bytes.isEmpty) {
          close(walks.keys.toSeq)
          current.view.mapValues(_.endInclusive).toMap
        } else {
          walk(current, budget.rows, budget.bytes)
          val used = current.keys.toSeq.flatMap(walks.get)
          val ends = current.map { case (p, range) => p -> walks.get(p).fold(range.startExclusive)(_.target) }
          used.foreach(_.admit())
          closeOldest()
          ends
        }
      }
    } catch {
      case e: Throwable => // whatever the walks have counted is not certain
        if (NonFatal(e)) close(walks.keys.toSeq)
        throw e
    }

  private def reachesMinimum(backlog: Map[String, OffsetRange], budget: TriggerBudget): Boolean = {
    val least = (budget.minimum.map(_._1) ++ budget.rows).min
    walk(backlog, Some(least), budget.bytes)
    val counted = backlog.keys.toSeq.flatMap(walks.get)
    counted.map(_.rows).sum >= least || budget.bytes.exists(_ <= counted.map(_.bytes).sum) ||
    counted.size < backlog.size || counted.exists(!_.isExhausted)
  }

  /** Walks until the partitions together reach the limit of rows or bytes, or have no more messages. */
  private def walk(backlog: Map[String, OffsetRange], rows: Option[Long], bytes: Option[Long]): Unit =
    walk(backlog, rows.getOrElse(Long.MaxValue), bytes.getOrElse(Long.MaxValue), nanos() + patience.toNanos, true)

  @tailrec
  private def walk(
      backlog: Map[String, OffsetRange],
      rows: Long,
      bytes: Long,
      deadline: Long,
      isFirst: Boolean
  ): Unit = {
    val counted   = backlog.keys.toSeq.flatMap(walks.get)
    val rowsLeft  = rows - counted.map(_.rows).sum
    val bytesLeft = bytes - counted.map(_.bytes).sum
    val needs     = backlog.keys.filterNot(walks.get(_).exists(_.isExhausted)).map(_ -> Long.MaxValue).toMap
    if (rowsLeft > 0 && bytesLeft > 0 && needs.nonEmpty && (isFirst || nanos() - deadline < 0)) {
      val rowShares  = Admission.share(needs, rowsLeft, served)
      val byteShares = Admission.share(needs, bytesLeft, served)
      val turn       = Admission.inTurn(needs.keys.filter(p => rowShares.contains(p) && byteShares.contains(p)), served)
      val isFailed   = new AtomicBoolean
      def mayGoOn()  = !isFailed.get && nanos() - deadline < 0
      threads.run(turn.zipWithIndex.map { case (partition, index) =>
        val walk = use(backlog(partition))
        () =>
          if (index == 0 || mayGoOn())
            try walk.advance(rowShares(partition), byteShares(partition), () => mayGoOn())
            catch {
              case e: Throwable =>
                isFailed.set(true)
                throw e
            }
      })
      served = turn.filter(p => walks(p).target != backlog(p).startExclusive).lastOption.getOrElse(served)
      this.walk(backlog, rows, bytes, deadline, false)
    }
  }

  private def use(range: OffsetRange): PartitionWalk = {
    val walk = walks.remove(range.topic).getOrElse(open(range))
    walks.put(range.topic, walk)
    walk
  }

  private def closeOldest(): Unit = close(walks.keys.take(walks.size - MaxOpen).toSeq)

  /** Closes walks, all at the same time because a broker may not respond. */
  private def close(partitions: Seq[String]): Unit = if (partitions.nonEmpty) {
    val closing = partitions.flatMap(p => walks.remove(p).map(p -> _))
    val atOnce  = new BlockingParallel("pulsar-backlog-close", closing.size)
    atOnce.run(closing.map { case (partition, walk) =>
      () =>
        try walk.close()
        catch { case NonFatal(e) => log.warn("closing the walk over {}: {}", partition, e.toString: Any) }
    })
  }

  /** Interrupts running walks, and ends all. */
  override def close(): Unit = {
    if (!threads.stop(patience.toMillis)) log.warn("a walk over the backlog does not end")
    close(walks.keys.toSeq)
  }
}

private[stream] object BacklogWalk {
  private val log = LoggerFactory.getLogger(classOf[BacklogWalk])

  /** Partitions that are walked over at a time. */
  private val Threads = 16

  /** Walks that stay open between triggers. Each has a consumer and its read-ahead. */
  val MaxOpen = 256
}
