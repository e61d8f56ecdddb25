package io.github.pulsarspark.storage

import scala.util.{Failure, Success}
import scala.util.control.NonFatal

import org.slf4j.LoggerFactory

import io.github.pulsarspark.errors.{Conditions, DataLossPolicy, PulsarError}
import io.github.pulsarspark.options.{ReadLevel, ReadOptions}
import io.github.pulsarspark.position.{Interval, OffsetRange, Position, PruningBounds}
import io.github.pulsarspark.pulsar.TopicNames
import io.github.pulsarspark.pulsar.admin.AdminApi
import io.github.pulsarspark.pulsar.connection.ClientLease
import io.github.pulsarspark.storage.bookkeeper.Reachability
import io.github.pulsarspark.storage.bookkeeper.bookies.BookieConnections
import io.github.pulsarspark.storage.ledgers.{KnownLedgers, LedgerMetadata, LedgerPruning, Offloads, StoredLedger, TopicStorage}
import io.github.pulsarspark.storage.offload.OffloadedLedgers
import io.github.pulsarspark.storage.segment.{BookieLedger, HadoopSettings, OffloadedLedger, Segment, SegmentLocation, Slice}

/** Decides where the entries of ranges are read, by the option `readLevel`. Used on the driver, and by a task whose
  * ledger is not where it was.
  *
  * @param known
  *   what the query knows of ledgers already
  */
private[pulsarspark] final class SegmentLocator(
    lease: ClientLease,
    options: ReadOptions,
    hadoop: HadoopSettings,
    losses: DataLossPolicy,
    known: KnownLedgers
) {
  import SegmentLocator._

  private val reachability = new Reachability(options.bookKeeper)

  /** Leaves out, at the start and at the end of ranges, ledgers of which nothing is wanted, going by their ids, and at
    * the start also those in which every message was published before, unless the producer's clock was further ahead of
    * the brokers' than `publishTimeSkewMs`.
    *
    * At the end times leave nothing out, however old what is wanted: a message may be stored long after it was
    * published, as after an outage or by replication. Of the compacted view nothing is left out: compaction keeps
    * messages of ledgers that are no longer listed.
    *
    * @return
    *   what is left of each range, and the number of ledgers left out
    */
  def narrow(ranges: Seq[(OffsetRange, PruningBounds)]): Seq[(OffsetRange, Long)] = {
    val asked = ranges.collect {
      case (range, w) if w.times.fromInclusive != Long.MinValue || w.ledgers != Interval.Always => range.topic
    }
    val ages = lease.admin.filter(_ => asked.nonEmpty && !options.readCompacted).fold(Map.empty[String, LedgerPruning])(
      agesOf(_, asked)
    )
    ranges.map { case (range, wanted) =>
      ages.get(range.topic).fold((range, 0L))(_.narrow(range, wanted, options.publishTimeSkew.toMillis))
    }
  }

  private def agesOf(admin: AdminApi, topics: Seq[String]): Map[String, LedgerPruning] =
    unlessSilent(admin, topics)(new LedgerMetadata(admin, options).ages(topics)).fold(
      { problem =>
        log.info("No ledger is left out, because the admin service did not tell which there are: {}", problem)
        Map.empty
      },
      identity
    )

  /** The slices of each range, in order.
    *
    * @param tailEntries
    *   0, or for streams: under `auto` the broker reads what it has in its cache, ranges of one ledger with no more
    *   than this many entries. Where the size of entries is known, their bytes count instead: 4 MiB of a range or of
    *   the newest ledger.
    */
  def slices(ranges: Seq[OffsetRange], tailEntries: Long = 0): Seq[Slice] = {
    val found = (options.readLevel, lease.admin) match {
      case (ReadLevel.Broker, _)      => ranges.map(Slice(_, None, ByOption))
      case _ if options.readCompacted => ranges.map(Slice(_, None, Compacted))
      case (_, None)                  => ranges.map(Slice(_, None, NoAdmin))
      case (_, Some(admin))           =>
        options.bookKeeper.tls.foreach(BookieConnections.context)
        val isStream = tailEntries > 0
        val short    =
          if (isStream && options.readLevel == ReadLevel.Auto) ranges.filter(isShort(_, tailEntries)).toSet
          else Set.empty[OffsetRange]
        located(admin, ranges.filterNot(short), isStream) match {
          case Left(reason)  => ranges.map(range => Slice(range, None, if (short(range)) Short else reason))
          case Right(topics) =>
            ranges.flatMap(range =>
              if (short(range)) Seq(Slice(range, None, Short)) else slicesOf(range, topics, isStream)
            )
        }
    }
    if (options.readLevel == ReadLevel.Segment) found.find(_.segment.isEmpty).foreach(fail)
    logReasons(found)
    found
  }

  private def isShort(range: OffsetRange, tailEntries: Long): Boolean =
    entriesWithin(range).exists(entries =>
      known.entryBytes(range.topic).fold(entries <= tailEntries)(entries * _ <= TailBytes)
    )

  private def slicesOf(range: OffsetRange, topics: Topics, isStream: Boolean): Seq[Slice] = {
    val there   = present(range, topics)
    val storage = topics.storage(range.topic)
    val home    = this.home(range.topic, topics)
    val isTail  =
      if (isStream && options.readLevel == ReadLevel.Auto) tail(there, storage) else (_: StoredLedger) => false
    if (there.isEmpty) Nil
    else SegmentPlanner.slices(there, storage, ledger => if (isTail(ledger)) Left(Short) else home(ledger))
  }

  private def located(admin: AdminApi, ranges: Seq[OffsetRange], isStream: Boolean): Either[String, Topics] = {
    val lists       = new LedgerMetadata(admin, options)
    def ask: Topics = {
      val storage =
        if (isStream) known.locate(ranges, Option.when(options.readLevel == ReadLevel.Auto)(tail))(lists.ofTopics)
        else lists.ofTopics(
          ranges.map(r => r.topic -> Interval(r.startExclusive.ledgerId, r.endInclusive.ledgerId + 1)).toMap,
          withMetadata = true
        )
      val offloaded = ranges.map(r =>
        r.topic -> storage(r.topic).within(r).filter(_.isOffloaded).map(_.id).toSet
      ).filter(_._2.nonEmpty)
      Topics(storage, lists.offloads(offloaded.toMap))
    }
    if (options.readLevel == ReadLevel.Segment) Right(ask)
    else
      unlessSilent(admin, ranges.map(_.topic))(ask).left.map(problem =>
        s"the admin service did not tell where topics are stored: $problem"
      )
  }

  /** Left with a reason when the admin service does not answer, or did not lately. */
  private def unlessSilent[A](admin: AdminApi, topics: Seq[String])(ask: => A): Either[String, A] =
    (if (topics.isEmpty) None else UnresponsiveAdmin.obstacle(admin, topics.head)).toLeft(()).flatMap { _ =>
      try Right(ask)
      catch {
        case NonFatal(e) =>
          e match {
            case error: PulsarError if Conditions.Unreachable.is(error) => UnresponsiveAdmin.add(admin)
            case _                                                      => ()
          }
          Left(e.getMessage)
      }
    }

  /** Preferred split points per ledger; empty means split anywhere. Read failures are left to the task, which can fall
    * back.
    */
  def starts(segments: Seq[Segment]): Map[Long, Seq[Long]] = {
    val ledgers =
      segments.map(_.home).collect {
        case SegmentLocation.Tiered(ledger) if !UnresponsiveStorage.contains(ledger.location) => ledger
      }
    if (ledgers.isEmpty) Map.empty
    else startsOf(ledgers) // without offloaded ledgers Hadoop need not read its configuration
  }

  private def startsOf(ledgers: Seq[OffloadedLedger]): Map[Long, Seq[Long]] = {
    val blocks  = OffloadedLedgers.blocks(ledgers, hadoop.configuration, options.client.operationTimeout)
    val unknown = ledgers.zip(blocks).collect { case (ledger, Failure(e)) => ledger -> e }
    unknown.headOption.foreach { case (_, e) =>
      log.warn("The blocks of {} offloaded ledgers are not known, first: {}", unknown.size, e.getMessage)
    }
    unknown.foreach {
      case (ledger, e: PulsarError) if Conditions.OffloadTimeout.is(e) =>
        UnresponsiveStorage.add(ledger.location)
      case _ => ()
    }
    ledgers.zip(blocks).collect { case (ledger, Success(found)) => ledger.ledgerId -> found.map(_.firstEntryId) }.toMap
  }

  private def logReasons(slices: Seq[Slice]): Unit = {
    val reasons = slices.filter(_.segment.isEmpty).groupMapReduce(_.reason)(_ => 1)(_ + _)
    if (reasons.nonEmpty) {
      val shown = reasons.toSeq.sortBy(-_._2).take(MostShown).map { case (reason, count) =>
        s"$reason ($count)"
      }.mkString("; ")
      val text = s"${reasons.values.sum} of ${slices.size} slices are read at broker level: $shown"
      if (reasons.keySet.subsetOf(Intended)) log.info(text) else log.warn(text)
    }
  }

  /** The range without what was in ledgers that are gone. Where the broker may be asked, it tells whether that is a
    * loss.
    */
  private def present(range: OffsetRange, topics: Topics): OffsetRange = topics.storage(range.topic).listed match {
    case Some((first, _)) if options.readLevel == ReadLevel.Segment && range.startExclusive.ledgerId < first =>
      val begin = Position(first, -1)
      losses.report(range.topic, range.startExclusive.toString, begin.toString,
        s"the topic now begins with ledger $first")
      range.copy(startExclusive = begin)
    case _ => range
  }

  private def home(topic: String, topics: Topics): StoredLedger => Either[String, SegmentLocation] = {
    val managedLedger = TopicNames.managedLedger(topic)
    ledger =>
      if (ledger.isOffloaded)
        for {
          location <- topics.offloads(topic).location
          _ <- if (options.readLevel == ReadLevel.Auto) UnresponsiveStorage.obstacle(location).toLeft(()) else Right(())
          uuid <- topics.offloads(topic).uuids.get(ledger.id).toRight(
            s"the id of the offload of ledger ${ledger.id} is not known"
          )
        } yield SegmentLocation.Tiered(OffloadedLedger(ledger.id, uuid, managedLedger, location))
      else
        for {
          parsed <- ledger.home.toRight(s"the broker gave no metadata of ledger ${ledger.id}")
          found  <- parsed
          _      <- belongs(found, managedLedger)
          _      <-
            Either.cond(Digests(found.digestType), (), s"ledger ${ledger.id} has the digest type ${found.digestType}")
          _ <- if (options.readLevel == ReadLevel.Auto) reachability.obstacle(found).toLeft(()) else Right(())
        } yield SegmentLocation.Bookies(found)
  }

  /** The ledgers of a shadow topic, for instance, are another topic's. */
  private def belongs(ledger: BookieLedger, owner: String): Either[String, Unit] = Either.cond(
    ledger.managedLedger.contains(owner),
    (),
    s"ledger ${ledger.id} belongs to ${ledger.managedLedger.getOrElse("nobody")}"
  )

  private def fail(slice: Slice): Nothing = throw Conditions.SegmentUnavailable(topic = slice.range.topic,
    from = slice.range.startExclusive.toString, to = slice.range.endInclusive.toString, reason = slice.reason).exception

  /** Of what ledgers the broker has in its cache what a range wants: of all, if that is little, else of the newest, if
    * that is.
    */
  private val tail: KnownLedgers.Tail = (range, storage) => {
    val isLittle = storage.within(range).iterator.scanLeft(0L)(_ + storage.bytesWithin(range, _)).forall(_ <= TailBytes)
    ledger => isLittle || storage.isNewest(ledger.id) && storage.bytesWithin(range, ledger) <= TailBytes
  }

  private def entriesWithin(range: OffsetRange): Option[Long] =
    Option.when(range.startExclusive.ledgerId == range.endInclusive.ledgerId)(
      range.endInclusive.entryId - range.startExclusive.entryId
    )
}

private object SegmentLocator {
  private val log = LoggerFactory.getLogger(classOf[SegmentLocator])

  /** What the admin service says of topic partitions. */
  private final case class Topics(storage: Map[String, TopicStorage], offloads: Map[String, Offloads])

  // Why the broker reads where nothing is wrong.
  private val ByOption  = "readLevel is broker"
  private val Compacted = "the compacted view is the broker's"
  private val NoAdmin   = "admin.url is not set"
  private val Short     = "it is short"
  private val Intended  = Set(ByOption, Compacted, NoAdmin, Short)

  /** As much as the smallest task reads. */
  private val TailBytes = 4L * 1024 * 1024

  /** Reasons in one line of the log. */
  private val MostShown = 5

  /** What can be checked without a password. */
  private val Digests = Set("CRC32C", "CRC32", "DUMMY")
}
