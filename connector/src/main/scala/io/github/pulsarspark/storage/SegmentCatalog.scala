package io.github.pulsarspark.storage

import scala.util.control.NonFatal

import org.slf4j.LoggerFactory

import io.github.pulsarspark.client.{AdminApi, Answers, ClientLease, TopicNames}
import io.github.pulsarspark.errors.PulsarErrors
import io.github.pulsarspark.offsets.OffsetRange
import io.github.pulsarspark.options.{ReadLevel, ReadOptions}

/** Finds out where the entries of ranges are and who reads them, by the option `readLevel`. Used on the driver, and by a task whose ledger is not where it was.
  *
  * The broker is asked for each partition's ledgers with the user's own credentials, so whoever may not consume a topic does not learn where it is stored.
  */
private[pulsarspark] final class SegmentCatalog(lease: ClientLease, options: ReadOptions) {
  import SegmentCatalog._

  private val answers      = new Answers(lease.options)
  private val reachability = new Reachability(options.bookKeeper)

  /** The slices of each range, in order.
    *
    * @param tail
    *   ranges that are about this many entries or less stay with the broker under `auto`, without asking: what has just been written is in its cache
    */
  def slices(ranges: Seq[OffsetRange], tail: Long = 0): Seq[Slice] = options.readLevel match {
    case ReadLevel.Broker => ranges.map(Slice(_, None, "readLevel is broker"))
    case level            =>
      lease.admin match {
        case None        => ranges.map(r => orFail(Slice(r, None, "admin.url is not set")))
        case Some(admin) =>
          val far     = ranges.filterNot(r => level == ReadLevel.Auto && isShort(r, tail))
          val planned = answersOf(admin, far).map { case (range, storage) =>
            range -> storage.fold(
              reason => Seq(Slice(range, None, reason)),
              SegmentPlanner.slices(range, _, home(range.topic, _))
            )
          }.toMap
          ranges.flatMap(r => planned.getOrElse(r, Seq(Slice(r, None, "it is short")))).map(orFail)
      }
  }

  private def answersOf(admin: AdminApi, ranges: Seq[OffsetRange]): Seq[(OffsetRange, Either[String, TopicStorage])] =
    ranges.grouped(AtOnce).flatMap { group =>
      val asked = group.map(range => range -> admin.internalStats(range.topic, withMetadata = true))
      asked.map { case (range, answer) =>
        val what = s"Asking for the ledgers of ${range.topic}"
        range -> (
          try Right(TopicStorage.parse(answers.await(what)(answer)))
          catch {
            case NonFatal(e) if options.readLevel == ReadLevel.Auto =>
              log.warn(
                "{}: the broker will be read, because the admin service did not tell where the topic is stored: {}",
                range.topic,
                e.getMessage: Any
              )
              Left("the admin service did not tell where the topic is stored")
          }
        )
      }
    }.toSeq

  private def home(topic: String, ledger: StoredLedger): Either[String, SegmentHome] =
    if (ledger.isOffloaded) Left(s"ledger ${ledger.id} is offloaded")
    else
      for {
        text  <- ledger.metadata.toRight(s"the broker gave no metadata of ledger ${ledger.id}")
        found <- BookieLedger.parse(ledger.id, text)
        _     <- Either.cond(
          found.managedLedger.contains(TopicNames.managedLedger(topic)),
          (),
          s"ledger ${ledger.id} belongs to ${found.managedLedger.getOrElse("nobody")}"
        )
        _ <- Either.cond(Digests(found.digestType), (), s"ledger ${ledger.id} has the digest type ${found.digestType}")
        _ <- if (options.readLevel == ReadLevel.Auto) reachability.obstacle(found).toLeft(()) else Right(())
      } yield SegmentHome.Bookies(found)

  private def orFail(slice: Slice): Slice =
    if (slice.segment.isEmpty && options.readLevel == ReadLevel.Segment)
      throw PulsarErrors(
        "PULSAR_SEGMENT_UNAVAILABLE",
        "topic"  -> slice.range.topic,
        "from"   -> slice.range.startExclusive.toString,
        "to"     -> slice.range.endInclusive.toString,
        "reason" -> slice.reason
      )
    else slice

  private def isShort(range: OffsetRange, tail: Long): Boolean =
    range.startExclusive.ledgerId == range.endInclusive.ledgerId && range.endInclusive.entryId - range.startExclusive.entryId <= tail
}

private object SegmentCatalog {
  private val log = LoggerFactory.getLogger(classOf[SegmentCatalog])

  /** Partitions asked about at the same time. */
  private val AtOnce = 64

  /** What can be checked without a password. */
  private val Digests = Set("CRC32C", "CRC32", "DUMMY")
}
