package io.github.pulsarspark.storage.ledgers

import scala.collection.concurrent.TrieMap
import scala.concurrent.duration._

import io.github.pulsarspark.position.{Interval, OffsetRange}
import io.github.pulsarspark.storage.ledgers.KnownLedgers._

/** What a stream knows of how its topic partitions are stored, kept from micro-batch to micro-batch so that requests
  * are few and cheap.
  *
  * Ledgers are only added after the newest, and of a closed one only the place of its copies changes. So a range that
  * ends in a known ledger needs no request. Otherwise the list of ledgers is enough where the metadata is known or not
  * needed. Only else the metadata is requested, for which the broker opens all ledgers. Everything is requested again
  * after 10 minutes: until then tasks find out by themselves where copies have moved.
  */
private[pulsarspark] final class KnownLedgers(nanos: () => Long = () => System.nanoTime()) {

  private val known = TrieMap.empty[String, Known]

  /** Average size of an entry in the newest ledger; None when it is not known. */
  def entryBytes(topic: String): Option[Long] =
    known.get(topic).map(_.storage).flatMap(s =>
      s.ledgers.lastOption.filter(l => l.entries + s.openEntries > 0).map(s.entryBytes)
    )

  /** @param ranges
    *   of one topic partition each
    * @param tail
    *   the ledgers of a range that the broker reads; None when it reads nothing
    * @param request
    *   requests how partitions are stored
    */
  def locate(ranges: Seq[OffsetRange], tail: Option[Tail])(request: Request): Map[String, TopicStorage] = {
    def isComplete(range: OffsetRange, storage: TopicStorage) = {
      val isTail = tail.fold((_: StoredLedger) => false)(_(range, storage))
      storage.within(range).forall(l => l.isOffloaded || l.home.nonEmpty || isTail(l))
    }
    val covered  = ranges.flatMap(r => covering(r).filter(c => isComplete(r, c.storage)).map(r.topic -> _)).toMap
    val unknown  = ranges.filterNot(r => covered.contains(r.topic))
    val light    = if (tail.isEmpty) Nil else unknown.filter(covering(_).isEmpty)
    val listed   = request(idsOf(light), false).map { case (topic, storage) => topic -> completed(topic, storage) }
    val lacking  = unknown.filterNot(r => listed.get(r.topic).exists(l => isComplete(r, l.storage)))
    val reported = request(idsOf(lacking), true).map { case (topic, storage) => topic -> Known(storage, nanos()) }
    val located  = covered ++ listed ++ reported
    ranges.foreach(r => known.put(r.topic, located(r.topic).behind(r)))
    located.view.mapValues(_.storage).toMap
  }

  private def covering(range: OffsetRange): Option[Known] = for {
    before  <- fresh(range.topic) if before.storage.get(range.startExclusive.ledgerId).nonEmpty
    storage <- before.storage.confirmedTo(range.endInclusive)
  } yield before.copy(storage = storage)

  private def fresh(topic: String): Option[Known] = known.get(topic).filter(nanos() - _.at < Lasts.toNanos)

  /** A list of ledgers with the metadata that is known. */
  private def completed(topic: String, listed: TopicStorage): Known = fresh(topic).fold(Known(listed, nanos())) {
    before =>
      def home(ledger: StoredLedger) = if (ledger.isOffloaded) None else before.storage.get(ledger.id).flatMap(_.home)
      Known(listed.copy(ledgers = listed.ledgers.map(l => l.copy(home = home(l)))), before.at)
  }

  private def idsOf(ranges: Seq[OffsetRange]): Map[String, Interval] =
    ranges.map(r => r.topic -> Interval(r.startExclusive.ledgerId)).toMap
}

private[storage] object KnownLedgers {

  type Tail = (OffsetRange, TopicStorage) => StoredLedger => Boolean

  /** For each partition the ids of the ledgers that are needed, and whether their metadata is. */
  type Request = (Map[String, Interval], Boolean) => Map[String, TopicStorage]

  /** @param at
    *   when its oldest metadata was requested, by `System.nanoTime`
    */
  private final case class Known(storage: TopicStorage, at: Long) {

    /** What the range after this one can need. */
    def behind(range: OffsetRange): Known = copy(storage = storage.from(range.endInclusive.ledgerId))
  }

  private val Lasts = 10.minutes
}
