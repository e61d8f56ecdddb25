package io.github.pulsarspark.storage.segment

import java.util.concurrent.CompletableFuture

import scala.collection.concurrent.TrieMap
import scala.concurrent.duration._

import io.github.pulsarspark.position.{Interval, OffsetRange, Position}
import io.github.pulsarspark.storage.segment.KnownLedgers._

/** Ledgers of a stream's topic partitions, remembered between micro-batches. A micro-batch sends at most one request
  * for each partition.
  *
  * New ledgers only follow the newest, and of a closed one only the location of its copies changes. So a range that
  * ends in a known ledger needs no request. Otherwise the metadata is requested, for which the broker opens all
  * ledgers. After 10 minutes the list alone is requested again, which reports offloaded ledgers: until then tasks find
  * out by themselves. The metadata of a ledger is kept until a task does not find the ledger, or its bookies do not
  * respond.
  */
private[storage] final class KnownLedgers(nanos: () => Long) {

  private val known = TrieMap.empty[String, Known]

  /** Average size of an entry in the newest ledger; None when it is not known, or not any more. */
  def entryBytes(topic: String): Option[Long] =
    known.get(topic).filter(isCurrent).map(_.storage).flatMap(s =>
      s.ledgers.lastOption.filter(l => l.entries + s.openEntries > 0).map(s.entryBytes)
    )

  /** Number of a range's entries in known ledgers before its last. */
  def entriesBefore(range: OffsetRange): Long = known.get(range.topic).fold(0L) { before =>
    before.storage.within(range).filter(_.id < range.endInclusive.ledgerId).map { ledger =>
      math.max(0L, before.storage.lastEntry(ledger).fold(0L)(_ + 1) - range.firstEntry(ledger.id))
    }.sum
  }

  /** Number of entries in one ledger, and in those between it and a later one; None while that is not known. */
  def entriesBetween(topic: String, from: Long, to: Long): Option[(Long, Long)] =
    known.get(topic).filter(_.covers(from)).flatMap(_.storage.entriesBetween(from, to))

  /** Requests the list of ledgers from one of them on, without metadata, and adds it to what is known. The newest known
    * ledger is listed again: it may have been closed since.
    */
  def list(topic: String, from: Long)(request: Interval => CompletableFuture[TopicStorage]): CompletableFuture[Unit] = {
    val first = known.get(topic).flatMap(_.storage.listed).fold(from) { case (_, newest) => math.min(from, newest) }
    request(Interval(first)).thenApply { listed =>
      known.updateWith(topic)(before =>
        Some(before.fold(Known(listed, first, nanos(), hasMetadata = false))(_.extendedBy(listed, first)))
      )
      ()
    }
  }

  /** Forgets lists without metadata of all other partitions. */
  def keepLists(of: String => Boolean): Unit = known.filterInPlace((topic, k) => k.hasMetadata || of(topic))

  /** @param ranges
    *   of one topic partition each
    * @param tail
    *   the ledgers of a range that the broker reads; None when it reads nothing
    * @param request
    *   requests how partitions are stored
    * @param isFollowed
    *   whether the next range may begin within this one
    */
  def locate(ranges: Seq[OffsetRange], tail: Option[Tail], isFollowed: Boolean = false)(
      request: Request
  ): Map[String, TopicStorage] = {
    val covered          = ranges.flatMap(r => covering(r, tail).map(r.topic -> _)).toMap
    val (current, old)   = covered.partition { case (_, k) => isCurrent(k) }
    val (doubtful, aged) = old.partition { case (_, k) => k.isDoubtful }
    val isRenewed        = aged.keySet
    val isUnknown        = (r: OffsetRange) => !covered.contains(r.topic) || doubtful.contains(r.topic)
    val renewed          = requested(ranges.filter(r => isRenewed(r.topic)), isWhole = false)(request).map {
      case (topic, listed) =>
        topic -> listed.copy(storage = aged(topic).storage.addTo(listed.storage), hasMetadata = aged(topic).hasMetadata)
    }
    val located = current ++ renewed ++ requested(ranges.filter(isUnknown), isWhole = true)(request)
    ranges.foreach(r =>
      known.put(r.topic, located(r.topic).from((if (isFollowed) r.startExclusive else r.endInclusive).ledgerId))
    )
    located.view.mapValues(_.storage).toMap
  }

  /** The list of ledgers of partitions, from the one in which a range begins. Requests it where the range goes beyond
    * what is known, and so do the bytes that a micro-batch may read; the micro-batch then needs no other request.
    *
    * @param bytes
    *   of each partition
    */
  def listed(ranges: Seq[OffsetRange], bytes: Long)(request: Request): Map[String, TopicStorage] = {
    val unknown = ranges.filterNot(r => known.get(r.topic).exists(k => isCurrent(k) && k.lists(r, bytes)))
    requested(unknown.map(fromKnown), isWhole = true)(request).foreach { case (topic, found) =>
      known.put(topic, found)
    }
    ranges.flatMap(r => known.get(r.topic).map(r.topic -> _.storage)).toMap
  }

  /** The range from where its list begins now: a range in the middle of a micro-batch does not shorten the list that
    * the tasks of the micro-batch need.
    */
  private def fromKnown(range: OffsetRange): OffsetRange =
    known.get(range.topic).map(k => Position(k.first, -1)).filter(_ < range.startExclusive)
      .fold(range)(begin => range.copy(startExclusive = begin))

  /** @param isWhole whether the metadata is requested, too */
  private def requested(ranges: Seq[OffsetRange], isWhole: Boolean)(request: Request): Map[String, Known] = {
    val firsts = ranges.map(r => r.topic -> r.startExclusive.ledgerId).toMap
    request(firsts.view.mapValues(Interval(_)).toMap, isWhole).map { case (topic, storage) =>
      topic -> Known(storage, firsts(topic), nanos())
    }
  }

  /** Marks the metadata as doubtful because bookies do not respond. The next request for the list includes it. */
  def doubt(topic: String): Unit = known.updateWith(topic)(_.map(_.copy(isDoubtful = true)))

  /** Ledgers are not where they were: the next range requests the metadata. */
  def moved(topic: String): Unit =
    known.updateWith(topic)(_.map(_.copy(at = nanos() - ListTtl.toNanos, isDoubtful = true)))

  /** Forgets deleted topic partitions. */
  def retain(exists: String => Boolean): Unit = known.filterInPlace((topic, _) => exists(topic))

  /** Known storage of a range, if that is all it needs. */
  private def covering(range: OffsetRange, tail: Option[Tail]): Option[Known] = for {
    before  <- known.get(range.topic) if before.covers(range.startExclusive.ledgerId)
    storage <- before.storage.confirmedTo(range.endInclusive)
    isTail = tail.fold((_: StoredLedger) => false)(_(range, storage))
    if storage.within(range).forall(l => l.isOffloaded || l.home.nonEmpty || isTail(l))
  } yield before.copy(storage = storage)

  private def isCurrent(known: Known): Boolean = nanos() - known.at < ListTtl.toNanos
}

private[storage] object KnownLedgers {

  type Tail = (OffsetRange, TopicStorage) => StoredLedger => Boolean

  /** Requests ledgers: takes the needed ids of each partition, and whether their metadata is needed. */
  type Request = (Map[String, Interval], Boolean) => Map[String, TopicStorage]

  /** @param first
    *   id of the ledger from which the list was requested; it may be trimmed
    * @param at
    *   when its list was requested, by `System.nanoTime`
    * @param isDoubtful
    *   whether ledgers may be elsewhere than their metadata says
    * @param hasMetadata
    *   whether the metadata of every ledger was requested, too
    */
  private final case class Known(
      storage: TopicStorage,
      first: Long,
      at: Long,
      isDoubtful: Boolean = false,
      hasMetadata: Boolean = true
  ) {

    /** True if the list contains the ledger, or the ledger does not exist. */
    def covers(ledgerId: Long): Boolean =
      storage.get(ledgerId).nonEmpty || first <= ledgerId && storage.ledgers.headOption.exists(_.id > ledgerId)

    /** True if the list reaches the end of the range, or has this many bytes of closed ledgers after the first. */
    def lists(range: OffsetRange, bytes: Long): Boolean = hasMetadata && covers(range.startExclusive.ledgerId) &&
      (storage.get(range.endInclusive.ledgerId).nonEmpty ||
        storage.closedFrom(range.startExclusive.ledgerId).filter(_.id > range.startExclusive.ledgerId).map(
          _.bytes
        ).sum >=
        bytes)

    /** This with another list, of ledgers from `from` on. Of an older one nothing is taken. */
    def extendedBy(listed: TopicStorage, from: Long): Known =
      if (listed.lastConfirmed < storage.lastConfirmed) this
      else {
        val added  = storage.addTo(listed)
        val before = if (hasMetadata) storage.ledgers.filter(_.id < from) else IndexedSeq.empty
        copy(
          storage = added.copy(ledgers = before ++ added.ledgers),
          first = if (hasMetadata) math.min(first, from) else from,
          hasMetadata = hasMetadata && added.ledgers.forall(l => storage.get(l.id).nonEmpty)
        )
      }

    /** Part of the storage that the next range can need. */
    def from(ledgerId: Long): Known = copy(storage = storage.from(ledgerId), first = ledgerId)
  }

  private val ListTtl = 10.minutes
}
