package io.github.pulsarspark.storage

import scala.util.control.NonFatal

import org.slf4j.LoggerFactory

import io.github.pulsarspark.errors.{Conditions, DataLossPolicy, PulsarError}
import io.github.pulsarspark.options.{ReadLevel, ReadOptions}
import io.github.pulsarspark.position.{Interval, OffsetRange, Position, PruningBounds}
import io.github.pulsarspark.pulsar.admin.AdminApi
import io.github.pulsarspark.storage.segment.{HadoopSettings, LedgerMetadata, LedgerPruning, Segment, SegmentLocation, Slice, StoredLedger, TopicStorage, WholeLedger}

/** Decides where the entries of ranges are read, by the option `readLevel`. Used on the driver, and by a task whose
  * ledger is not where it was.
  *
  * @param known
  *   what the query has located
  */
private[pulsarspark] final class SegmentLocator(
    admin: Option[AdminApi],
    options: ReadOptions,
    hadoop: HadoopSettings,
    losses: DataLossPolicy,
    known: KnownStorage
) {
  import SegmentLocator._

  private val stores  = SegmentStores(options, hadoop)
  private val ledgers = known.ledgers
  private val service = admin.map(new LedgerMetadata(_, options))

  /** Skips ledgers at the start and at the end of ranges. Bounds on ledger ids skip at both ends. Bounds on publish
    * times skip at the start alone, ledgers in which every message was published before, unless a producer's clock was
    * further ahead of the brokers' than `publishTimeSkewMs`.
    *
    * Times skip nothing at the end: a message may be stored long after it was published, as after an outage or by
    * replication. In the compacted view nothing is skipped: compaction keeps messages of ledgers that are no longer
    * listed.
    *
    * @return
    *   what remains of each range, and the number of ledgers skipped
    */
  private[storage] def narrow(ranges: Seq[(OffsetRange, PruningBounds)]): Seq[(OffsetRange, Long)] = {
    val bounded = ranges.collect {
      case (range, w) if w.times.fromInclusive != Long.MinValue || w.ledgers != Interval.Always => range.topic
    }
    val ages =
      service.filter(_ => bounded.nonEmpty && !options.readCompacted).fold(Map.empty[String, LedgerPruning])(
        agesOf(_, bounded)
      )
    ranges.map { case (range, bounds) =>
      ages.get(range.topic).fold((range, 0L))(_.narrow(range, bounds, options.publishTimeSkew.toMillis))
    }
  }

  /** Consecutive closed ledgers of each range of a stream, from the one in which it begins. Ranges whose ledgers are
    * unknown are missing.
    *
    * @param bytes
    *   closed ledgers of a range with this many bytes suffice
    */
  def wholeLedgers(ranges: Seq[OffsetRange], bytes: Long): Map[String, Seq[WholeLedger]] = service match {
    case Some(lists) if options.mayReadSegments && !options.readCompacted =>
      unlessSilent(lists, ranges.map(_.topic))(ledgers.listed(ranges, bytes)(lists.ofTopics)).fold(
        { problem =>
          log.info("A limit of bytes is counted, because the admin service did not report the ledgers: {}", problem)
          Map.empty
        },
        listed =>
          ranges.flatMap(r => listed.get(r.topic).map(r.topic -> _.closedFrom(r.startExclusive.ledgerId))).toMap
            .view.mapValues(_.map(l => WholeLedger(l.id, l.entries, l.bytes))).toMap
      )
    case _ => Map.empty
  }

  /** Closed ledgers of a stream's range that can be read directly, up to the first that cannot. Empty if the range is
    * within one ledger, which needs no request.
    *
    * @param bytes
    *   ledgers with this many bytes suffice, not counting the first ledger
    */
  private[storage] def stored(range: OffsetRange, bytes: Long): Seq[Slice] = service match {
    case Some(lists)
        if options.mayReadSegments && !options.readCompacted &&
          range.startExclusive.ledgerId < range.endInclusive.ledgerId =>
      unlessSilent(lists, Seq(range.topic)) {
        val storage = ledgers.listed(Seq(range), bytes)(lists.ofTopics)
        val closed  = storage.get(range.topic).toSeq.flatMap(_.closedFrom(range.startExclusive.ledgerId))
        val within  = closed.takeWhile(_.id <= range.endInclusive.ledgerId)
        val before  = within.drop(1).scanLeft(0L)(_ + _.bytes).takeWhile(_ < bytes)
        within.take(before.size + 1).lastOption.toSeq.flatMap { last =>
          val needed = storage.view.mapValues(s => s.copy(ledgers = s.ledgers.takeWhile(_.id <= last.id))).toMap
          val locate = known.locate(needed)(stores.locate(_, lists))(range.topic)
          SegmentPlanner
            .slices(
              range.copy(endInclusive = Seq(range.endInclusive, Position(last.id, last.entries - 1)).min),
              storage(range.topic),
              ledger => locate(ledger).flatMap(readable(range.topic, ledger, _))
            )
            .takeWhile(_.segment.nonEmpty)
        }
      }.fold(
        { problem =>
          log.info("The broker delivers what is counted, because it is not known where it is stored: {}", problem)
          Nil
        },
        identity
      )
    case _ => Nil
  }

  /** Ledgers of a topic partition are not where they were. */
  private[storage] def moved(topic: String): Unit = known.moved(Seq(topic))

  private def agesOf(lists: LedgerMetadata, topics: Seq[String]): Map[String, LedgerPruning] =
    unlessSilent(lists, topics)(lists.ages(topics)).fold(
      { problem =>
        log.info("No ledger is skipped, because the admin service did not report the ledgers: {}", problem)
        Map.empty
      },
      identity
    )

  /** The slices of each range, in order.
    *
    * @param tail
    *   of streams, whose ranges are of one topic partition each: what the broker reads under `auto`, and of a tail that
    *   tasks follow
    */
  private[storage] def slices(ranges: Seq[OffsetRange], tail: Option[StreamTail] = None): Seq[Slice] = {
    val slices = (options.readLevel, service) match {
      case (ReadLevel.Broker, _)      => ranges.map(Slice.ByBroker(_, ByOption))
      case _ if options.readCompacted => ranges.map(Slice.ByBroker(_, Compacted))
      case (_, None)                  => ranges.map(Slice.ByBroker(_, NoAdmin))
      case (_, Some(lists))           =>
        stores.check()
        val left  = tail.filter(_.isFollowed || options.readLevel == ReadLevel.Auto)
        val short = left.fold(Set.empty[OffsetRange])(t => ranges.filter(known.isShort(_, t)).toSet)
        located(lists, ranges.filterNot(short), left, tail) match {
          case Left(reason)  => ranges.map(range => Slice.ByBroker(range, if (short(range)) Short else reason))
          case Right(topics) =>
            ranges.flatMap(range =>
              if (short(range)) Seq(Slice.ByBroker(range, Short)) else slicesOf(range, topics, left)
            )
        }
    }
    if (options.readLevel == ReadLevel.Segment) slices.find(s => s.segment.isEmpty && s.reason != Short).foreach(fail)
    logReasons(slices)
    slices
  }

  private def slicesOf(range: OffsetRange, topics: Topics, tail: Option[StreamTail]): Seq[Slice] = {
    val present = this.present(range, topics)
    val storage = topics.storage(range.topic)
    val locate  = topics.locate(range.topic)
    val isTail  = tail.fold((_: StoredLedger) => false)(_.ledgers(present, storage))
    if (present.isEmpty) Nil
    else
      SegmentPlanner.slices(present, storage,
        ledger => if (isTail(ledger)) Left(Short) else locate(ledger).flatMap(readable(range.topic, ledger, _)))
  }

  private def readable(
      topic: String,
      ledger: StoredLedger,
      location: SegmentLocation
  ): Either[String, SegmentLocation] = {
    val obstacle = if (options.readLevel == ReadLevel.Auto) stores.obstacle(ledger.id, location) else None
    if (obstacle.isDefined && !ledger.isOffloaded) ledgers.doubt(topic)
    obstacle.toLeft(location)
  }

  private def located(
      lists: LedgerMetadata,
      ranges: Seq[OffsetRange],
      left: Option[StreamTail],
      tail: Option[StreamTail]
  ): Either[String, Topics] = {
    def request: Topics =
      if (tail.isDefined) {
        val storage = ledgers.locate(ranges, left.map(_.ledgers _), tail.exists(_.isFollowed))(lists.ofTopics)
        Topics(storage, known.locate(storage)(stores.locate(_, lists)))
      } else {
        val ids     = ranges.map(r => r.topic -> Interval(r.startExclusive.ledgerId, r.endInclusive.ledgerId + 1))
        val storage = lists.ofTopics(ids.toMap, withMetadata = true)
        Topics(storage, stores.locate(ranges.map(r => r.topic -> storage(r.topic).within(r)).toMap, lists))
      }
    if (options.readLevel == ReadLevel.Segment) Right(request)
    else
      unlessSilent(lists, ranges.map(_.topic))(request).left.map(problem =>
        s"the admin service did not report where topics are stored: $problem"
      )
  }

  /** Runs a request. Left: the reason, if the admin service does not respond or did not recently. */
  private def unlessSilent[A](lists: LedgerMetadata, topics: Seq[String])(request: => A): Either[String, A] =
    (if (topics.isEmpty) None else UnresponsiveAdmin.obstacle(lists.admin, topics.head)).toLeft(()).flatMap { _ =>
      try Right(request)
      catch {
        case NonFatal(e) =>
          e match {
            case error: PulsarError if Conditions.Unreachable.is(error) => UnresponsiveAdmin.add(lists.admin)
            case _                                                      => ()
          }
          Left(e.getMessage)
      }
    }

  /** Preferred split points per ledger; empty means split anywhere. Read failures are left to the task, which can fall
    * back.
    */
  private[storage] def starts(segments: Seq[Segment]): Map[Long, Seq[Long]] = stores.splitPoints(segments)

  private def logReasons(slices: Seq[Slice]): Unit = {
    val reasons = slices.filter(_.segment.isEmpty).groupMapReduce(_.reason)(_ => 1)(_ + _)
    if (reasons.nonEmpty) {
      val shown = reasons.toSeq.sortBy(-_._2).take(MaxShown).map { case (reason, count) =>
        s"$reason ($count)"
      }.mkString("; ")
      val text = s"${reasons.values.sum} of ${slices.size} slices are read at broker level: $shown"
      if (reasons.keySet.subsetOf(Intended)) log.info(text) else log.warn(text)
    }
  }

  /** The range without deleted ledgers. Where the broker may read, it decides whether that is a loss. */
  private def present(range: OffsetRange, topics: Topics): OffsetRange = topics.storage(range.topic).listed match {
    case Some((first, _)) if options.readLevel == ReadLevel.Segment && range.startExclusive.ledgerId < first =>
      val begin = Position(first, -1)
      losses.report(Conditions.DataLossTrimmed(topic = range.topic, from = range.startExclusive.toString,
        to = begin.toString, reason = s"the topic now begins with ledger $first"))
      range.copy(startExclusive = begin)
    case _ => range
  }

  private def fail(slice: Slice): Nothing = throw Conditions.SegmentUnavailable(topic = slice.range.topic,
    from = slice.range.startExclusive.toString, to = slice.range.endInclusive.toString, reason = slice.reason).exception

}

private object SegmentLocator {
  private val log = LoggerFactory.getLogger(classOf[SegmentLocator])

  /** Storage of topic partitions, as the admin service reports it.
    *
    * @param locate
    *   by topic partition and ledger
    */
  private final case class Topics(
      storage: Map[String, TopicStorage],
      locate: String => StoredLedger => Either[String, SegmentLocation]
  )

  // Why the broker reads where nothing is wrong.
  private val ByOption  = "readLevel is broker"
  private val Compacted = "the compacted view is the broker's"
  private val NoAdmin   = "admin.url is not set"
  private val Short     = "it is short"
  private val Intended  = Set(ByOption, Compacted, NoAdmin, Short)

  /** Reasons in one line of the log. */
  private val MaxShown = 5
}
