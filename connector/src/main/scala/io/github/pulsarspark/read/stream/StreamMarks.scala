package io.github.pulsarspark.read.stream

import java.time.Instant
import java.util.concurrent.ConcurrentHashMap

import scala.collection.immutable.SortedMap
import scala.concurrent.duration._
import scala.jdk.CollectionConverters._
import scala.util.control.NonFatal

import org.slf4j.LoggerFactory

import io.github.pulsarspark.common.BlockingParallel
import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.position.{PositionMark, PulsarOffset}
import io.github.pulsarspark.pulsar.broker.MarkedMessages
import io.github.pulsarspark.pulsar.broker.MarkedMessages.Finding

/** The marks in the offsets of a stream, by which a checkpoint is refused that belongs to another cluster. Each run
  * checks the marks of its checkpoint before it reads or acknowledges anything, and the newest ones once a minute, as
  * an address may lead to another cluster at any time. New marks replace those that were checked.
  *
  * It does not notice another cluster where the marked messages may be deleted. The stream then finds a loss there.
  *
  * @param where
  *   the checkpoint, for errors
  * @param background
  *   requests for several partitions at a time
  * @param nanos
  *   the clock
  */
private[stream] final class StreamMarks(
    messages: => MarkedMessages,
    serviceUrl: String,
    where: String,
    background: BlockingParallel,
    nanos: () => Long = () => System.nanoTime()
) {
  import StreamMarks._

  private var known                   = SortedMap.empty[String, PositionMark]
  private var checkedAt: Option[Long] = None
  private var isRenewed               = false // since the last check

  /** Fails if positions belong to another cluster.
    *
    * @param offset
    *   what the stream has read, or is to read
    */
  def check(offset: PulsarOffset): Unit = if (checkedAt.forall(nanos() - _ >= Interval.toNanos)) {
    if (checkedAt.isEmpty) known = offset.marks
    if (known.nonEmpty) compare(messages)
    checkedAt = Some(nanos())
    isRenewed = false
  }

  private def compare(messages: MarkedMessages): Unit =
    background.run(known.toSeq.map { case (partition, mark) =>
      () =>
        problem(mark, messages.find(partition, mark)).foreach(why =>
          throw Conditions.CheckpointOfAnotherCluster(where = where, serviceUrl = serviceUrl, topic = partition,
            position = mark.position.toString, why = why).exception
        )
    })

  /** The end of a micro-batch with marks; new ones after each check.
    *
    * @param read
    *   its start
    */
  def on(end: PulsarOffset, read: PulsarOffset): PulsarOffset =
    if (end eq read) read
    else if (end.isAsFarAs(read)) end.copy(marks = read.marks)
    else on(end)

  /** The offset with marks. */
  def on(end: PulsarOffset): PulsarOffset = {
    if (!isRenewed) renew(end)
    carried(end)
  }

  /** The offset with the marks that are known. Sends no request. */
  def carried(end: PulsarOffset): PulsarOffset = if (known.isEmpty) end else end.copy(marks = known)

  private def renew(end: PulsarOffset): Unit =
    try {
      val marked = messages // on this thread, which has a session
      val taken  = new ConcurrentHashMap[String, PositionMark]
      background.run(candidates(end).map { case (partition, position) =>
        () => marked.take(partition, position).foreach(taken.put(partition, _): Unit)
      })
      val marks = SortedMap.from(taken.asScala)
      if (marks.nonEmpty) known = marks
      isRenewed = true
      checkedAt = checkedAt.orElse(Some(nanos())) // the start of a stream, which is of this cluster
    } catch { case NonFatal(e) => log.info("no message is marked: {}", e.toString) }
}

private[stream] object StreamMarks {
  private val log = LoggerFactory.getLogger(classOf[StreamMarks])

  /** Time between two checks. */
  private val Interval = 1.minute

  /** Number of partitions with a mark: one may be deleted. */
  private val Most = 2

  /** Newest positions, whose ledgers are deleted last. */
  private def candidates(end: PulsarOffset) = {
    val (empty, read) = end.positions.toSeq.sortBy(_._2).reverse.partition(_._2.isBeforeLedger)
    (read ++ empty).take(Most)
  }

  private def problem(mark: PositionMark, found: Finding): Option[String] = found match {
    case Finding.Same | Finding.Unknown => None
    case Finding.AnotherMessage(time)   =>
      val published = if (time == mark.publishTime) "by another producer, or with another number" else at(time)
      Some(s"the message there was published $published, the one that was read ${at(mark.publishTime)}")
    case Finding.NoMessage(next)   => Some(s"no message is there, and the next one has position $next")
    case Finding.OlderLedger(last) => Some(s"the topic ends at $last, in an older ledger")
  }

  private def at(millis: Long) = s"at ${Instant.ofEpochMilli(millis)}"
}
