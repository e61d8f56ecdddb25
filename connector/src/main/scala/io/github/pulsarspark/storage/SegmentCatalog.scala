package io.github.pulsarspark.storage

import scala.util.{Failure, Success}
import scala.util.control.NonFatal

import org.slf4j.LoggerFactory

import io.github.pulsarspark.client.{ClientLease, TopicNames}
import io.github.pulsarspark.errors.{DataLossPolicy, PulsarError, PulsarErrors}
import io.github.pulsarspark.offsets.{Interval, OffsetRange, Position, Wanted}
import io.github.pulsarspark.options.{ReadLevel, ReadOptions}
import io.github.pulsarspark.storage.bookkeeper.BookieConnections
import io.github.pulsarspark.storage.tiered.OffloadedLedgers

/** Decides where the entries of ranges are read, by the option `readLevel`. Used on the driver, and by a task whose ledger is not where it was. */
private[pulsarspark] final class SegmentCatalog(lease: ClientLease, options: ReadOptions, hadoop: HadoopSettings, losses: DataLossPolicy) {
  import SegmentCatalog._

  private val reachability = new Reachability(options.bookKeeper)

  /** Leaves out, at the start and at the end of ranges, ledgers of which nothing is wanted, going by their ids, and at the start also those in which every message
    * was published before, unless the producer's clock was further ahead of the brokers' than `publishTimeSkewMs`.
    *
    * At the end times leave nothing out, however old what is wanted: a message may be stored long after it was published, as after an outage or by replication.
    *
    * @return
    *   what is left of each range, and the number of ledgers left out
    */
  def narrow(ranges: Seq[(OffsetRange, Wanted)]): Seq[(OffsetRange, Long)] = {
    val asked = ranges.collect { case (range, w) if w.times.fromInclusive != Long.MinValue || w.ledgers != Interval.Always => range.topic }
    val ages  = lease.admin.fold(Map.empty[String, LedgerAges])(admin => agesOf(new LedgerLists(admin, options), asked))
    ranges.map { case (range, wanted) =>
      ages.get(range.topic).fold((range, 0L))(_.narrow(range, wanted, options.publishTimeSkew.toMillis))
    }
  }

  private def agesOf(lists: LedgerLists, topics: Seq[String]): Map[String, LedgerAges] =
    try lists.ages(topics)
    catch {
      case NonFatal(e) =>
        log.info("No ledger is left out, because the admin service did not tell which there are: {}", e.getMessage)
        Map.empty
    }

  /** The slices of each range, in order.
    *
    * @param tail
    *   ranges of one ledger that are no longer than this many entries stay with the broker under `auto`, without a question: it has them in its cache
    */
  def slices(ranges: Seq[OffsetRange], tail: Long = 0): Seq[Slice] = {
    val found = (options.readLevel, lease.admin) match {
      case (ReadLevel.Broker, _)      => ranges.map(Slice(_, None, ByOption))
      case _ if options.readCompacted => ranges.map(Slice(_, None, Compacted))
      case (_, None)                  => ranges.map(Slice(_, None, NoAdmin))
      case (level, Some(admin))       =>
        options.bookKeeper.tls.foreach(BookieConnections.context)
        val isShort = (range: OffsetRange) => level == ReadLevel.Auto && entriesWithin(range).exists(_ <= tail)
        val located = ask(new LedgerLists(admin, options), ranges.filterNot(isShort).map(_.topic).distinct)
        ranges.flatMap(range =>
          if (isShort(range)) Seq(Slice(range, None, Short))
          else
            located match {
              case Left(reason)  => Seq(Slice(range, None, reason))
              case Right(topics) =>
                val there = present(range, topics)
                if (there.isEmpty) Nil else SegmentPlanner.slices(there, topics.storage(range.topic), home(range.topic, topics))
            }
        )
    }
    if (options.readLevel == ReadLevel.Segment) found.find(_.segment.isEmpty).foreach(fail)
    logReasons(found)
    found
  }

  /** By ledger, the entries at which a piece of a segment had better begin; none when any will do. That a segment cannot be read is for the task to find out,
    * which knows where else to go.
    */
  def starts(segments: Seq[Segment]): Map[Long, Seq[Long]] = {
    val ledgers = segments.map(_.home).collect { case SegmentHome.Tiered(ledger) if !SilentStorage.contains(ledger.location) => ledger }
    if (ledgers.isEmpty) Map.empty else startsOf(ledgers) // without offloaded ledgers Hadoop need not read its configuration
  }

  private def startsOf(ledgers: Seq[OffloadedLedger]): Map[Long, Seq[Long]] = {
    val blocks  = OffloadedLedgers.blocks(ledgers, hadoop.configuration, options.client.operationTimeout)
    val unknown = ledgers.zip(blocks).collect { case (ledger, Failure(e)) => ledger -> e }
    unknown.headOption.foreach { case (_, e) =>
      log.warn("The blocks of {} offloaded ledgers are not known, first: {}", unknown.size, e.getMessage)
    }
    unknown.foreach {
      case (ledger, e: PulsarError) if e.condition == "PULSAR_OFFLOAD_TIMEOUT" => SilentStorage.add(ledger.location)
      case _                                                                   => ()
    }
    ledgers.zip(blocks).collect { case (ledger, Success(found)) => ledger.ledgerId -> found.map(_.firstEntryId) }.toMap
  }

  private def ask(lists: LedgerLists, topics: Seq[String]): Either[String, Topics] =
    try {
      val storage = lists.ofTopics(topics)
      Right(Topics(storage, lists.offloads(topics.filter(storage(_).ledgers.exists(_.isOffloaded)))))
    } catch {
      case NonFatal(e) if options.readLevel == ReadLevel.Auto =>
        Left(s"the admin service did not tell where topics are stored: ${e.getMessage}")
    }

  private def logReasons(slices: Seq[Slice]): Unit = {
    val reasons = slices.filter(_.segment.isEmpty).groupMapReduce(_.reason)(_ => 1)(_ + _)
    if (reasons.nonEmpty) {
      val shown = reasons.toSeq.sortBy(-_._2).take(MostShown).map { case (reason, count) => s"$reason ($count)" }.mkString("; ")
      val text  = s"${reasons.values.sum} of ${slices.size} slices are read at broker level: $shown"
      if (reasons.keySet.subsetOf(Intended)) log.info(text) else log.warn(text)
    }
  }

  /** The range without what was in ledgers that are gone. Where the broker may be asked, it tells whether that is a loss. */
  private def present(range: OffsetRange, topics: Topics): OffsetRange = topics.storage(range.topic).ledgers.headOption match {
    case Some(first) if options.readLevel == ReadLevel.Segment && range.startExclusive.ledgerId < first.id =>
      val begin = Position(first.id, -1)
      losses.report(range.topic, range.startExclusive.toString, begin.toString, s"the topic now begins with ledger ${first.id}")
      range.copy(startExclusive = begin)
    case _ => range
  }

  private def home(topic: String, topics: Topics): StoredLedger => Either[String, SegmentHome] = {
    val managedLedger = TopicNames.managedLedger(topic)
    ledger =>
      if (ledger.isOffloaded)
        for {
          location <- topics.offloads(topic).location
          _        <- if (options.readLevel == ReadLevel.Auto) SilentStorage.obstacle(location).toLeft(()) else Right(())
          uuid     <- topics.offloads(topic).uuids.get(ledger.id).toRight(s"the id of the offload of ledger ${ledger.id} is not known")
        } yield SegmentHome.Tiered(OffloadedLedger(ledger.id, uuid, managedLedger, location))
      else
        for {
          text  <- ledger.metadata.toRight(s"the broker gave no metadata of ledger ${ledger.id}")
          found <- BookieLedger.parse(ledger.id, text)
          _     <- belongs(found, managedLedger)
          _     <- Either.cond(Digests(found.digestType), (), s"ledger ${ledger.id} has the digest type ${found.digestType}")
          _     <- if (options.readLevel == ReadLevel.Auto) reachability.obstacle(found).toLeft(()) else Right(())
        } yield SegmentHome.Bookies(found)
  }

  /** The ledgers of a shadow topic, for instance, are another topic's. */
  private def belongs(ledger: BookieLedger, owner: String): Either[String, Unit] = Either.cond(
    ledger.managedLedger.contains(owner),
    (),
    s"ledger ${ledger.id} belongs to ${ledger.managedLedger.getOrElse("nobody")}"
  )

  private def fail(slice: Slice): Nothing = throw PulsarErrors(
    "PULSAR_SEGMENT_UNAVAILABLE",
    "topic"  -> slice.range.topic,
    "from"   -> slice.range.startExclusive.toString,
    "to"     -> slice.range.endInclusive.toString,
    "reason" -> slice.reason
  )

  private def entriesWithin(range: OffsetRange): Option[Long] =
    Option.when(range.startExclusive.ledgerId == range.endInclusive.ledgerId)(range.endInclusive.entryId - range.startExclusive.entryId)
}

private object SegmentCatalog {
  private val log = LoggerFactory.getLogger(classOf[SegmentCatalog])

  /** What the admin service says of topic partitions. */
  private final case class Topics(storage: Map[String, TopicStorage], offloads: Map[String, Offloads])

  // Why the broker reads where nothing is wrong.
  private val ByOption  = "readLevel is broker"
  private val Compacted = "the compacted view is the broker's"
  private val NoAdmin   = "admin.url is not set"
  private val Short     = "it is short"
  private val Intended  = Set(ByOption, Compacted, NoAdmin, Short)

  /** Reasons in one line of the log. */
  private val MostShown = 5

  /** What can be checked without a password. */
  private val Digests = Set("CRC32C", "CRC32", "DUMMY")
}
