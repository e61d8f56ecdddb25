package io.github.pulsarspark.storage

import scala.collection.concurrent.TrieMap
import scala.concurrent.duration._

import io.github.pulsarspark.position.{OffsetRange, Position}
import io.github.pulsarspark.storage.KnownStorage._
import io.github.pulsarspark.storage.segment.{KnownLedgers, SegmentLocation, StoredLedger, TopicStorage}

/** Cache of how a stream's topic partitions are stored. It is kept between micro-batches to save requests.
  *
  * @param nanos
  *   the clock
  */
private[pulsarspark] final class KnownStorage(nanos: () => Long = () => System.nanoTime()) {

  private[storage] val ledgers = new KnownLedgers(nanos)

  private val offloads   = TrieMap.empty[String, Map[Long, Offload]]
  private val shortUntil = TrieMap.empty[String, Position] // where the last range ended, if it was short

  /** True if the broker reads the range; decided without a request.
    *
    * The number of entries of a range is known within one ledger. A range that enters an unknown ledger is short if its
    * part there is short and the previous range was short: the stream then follows the tail.
    */
  private[storage] def isShort(range: OffsetRange, tail: StreamTail): Boolean = {
    val entries = if (tail.newestOnly) range.entries else entriesOf(range)
    val isShort = tail.reaches(range) && entries.exists(tail.isLittle(_, ledgers.entryBytes(range.topic)))
    if (isShort) shortUntil.put(range.topic, range.endInclusive) else shortUntil.remove(range.topic)
    isShort
  }

  private def entriesOf(range: OffsetRange): Option[Long] = range.entries.orElse(
    Option.when(shortUntil.get(range.topic).contains(range.startExclusive))(
      range.endInclusive.entryId + 1 + ledgers.entriesBefore(range)
    )
  )

  /** Locates ledgers; sends a request only for offloaded ones that are not known.
    *
    * @param stored
    *   storage of the topic partitions that are needed now or later
    */
  private[storage] def locate(stored: Map[String, TopicStorage])(request: Request): Locator = {
    stored.foreach { case (topic, storage) =>
      offloads.updateWith(topic)(_.map(keep(_, storage)))
    }
    def known(topic: String, ledger: StoredLedger) =
      if (ledger.isOffloaded) offloads.get(topic).flatMap(_.get(ledger.id)).map(_.location) else None
    val located = request(stored.map { case (topic, s) => topic -> s.ledgers.filter(known(topic, _).isEmpty) })
    stored.foreach { case (topic, storage) =>
      val more = storage.ledgers.filter(l => l.isOffloaded && known(topic, l).isEmpty)
      if (more.nonEmpty) {
        val ofTopic = located(topic)
        val found   = more.map(l => l.id -> Offload(ofTopic(l), nanos())).toMap
        offloads.updateWith(topic)(before => Some(before.getOrElse(Map.empty) ++ found))
      }
    }
    topic => ledger => known(topic, ledger).getOrElse(located(topic)(ledger))
  }

  /** Forgets deleted topic partitions. */
  def retain(exists: String => Boolean): Unit = {
    offloads.filterInPlace((topic, _) => exists(topic))
    shortUntil.filterInPlace((topic, _) => exists(topic))
    ledgers.retain(exists)
  }

  /** Drops ledgers that the stream has passed and, after a while, those that could not be located. */
  private def keep(known: Map[Long, Offload], storage: TopicStorage): Map[Long, Offload] = known.filter {
    case (id, offload) =>
      storage.ledgers.headOption.forall(_.id <= id) &&
      (offload.location.isRight || nanos() - offload.at < UnknownTtl.toNanos)
  }

  /** Tasks did not find ledgers of these topic partitions where they were: everything is requested again. */
  def moved(topics: Iterable[String]): Unit = topics.foreach { topic =>
    offloads.remove(topic)
    ledgers.moved(topic)
  }
}

private[storage] object KnownStorage {
  type Locator = String => StoredLedger => Either[String, SegmentLocation]

  /** Locates ledgers by topic partition. */
  type Request = Map[String, Seq[StoredLedger]] => Locator

  private final case class Offload(location: Either[String, SegmentLocation], at: Long)

  private val UnknownTtl = 10.minutes
}
