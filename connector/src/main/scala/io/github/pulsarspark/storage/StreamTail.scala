package io.github.pulsarspark.storage

import io.github.pulsarspark.position.{OffsetRange, Position}
import io.github.pulsarspark.storage.segment.{StoredLedger, TopicStorage}

/** Decides what the broker reads of a stream by default: entries that it probably has in its cache. Pure.
  *
  * @param entries
  *   limit of entries that the broker reads while their size is unknown
  * @param latest
  *   the last messages of topic partitions, as far as they are known
  * @param isFollowed
  *   whether tasks follow the tail after each range, as in real-time mode. Then the broker reads a tail at each read
  *   level, and the next range may begin within this one.
  * @param newestOnly
  *   whether the broker reads nothing of a ledger that has a successor
  */
private[pulsarspark] final case class StreamTail(
    entries: Long,
    latest: Map[String, Position],
    isFollowed: Boolean = false,
    newestOnly: Boolean = false
) {
  import StreamTail._

  /** False if the topic partition goes on in later ledgers: the range is backlog, which no broker has in its cache.
    */
  def reaches(range: OffsetRange): Boolean = latest.get(range.topic).forall(_.ledgerId <= range.endInclusive.ledgerId)

  /** True if this many entries are few enough for the broker.
    *
    * @param entryBytes
    *   their average size; None when it is unknown
    */
  def isLittle(count: Long, entryBytes: Option[Long]): Boolean =
    entryBytes.fold(count <= entries)(count * _ <= MaxBytes)

  /** The ledgers of a range that the broker reads: all, if that is little, else the newest, if that is little. */
  def ledgers(range: OffsetRange, storage: TopicStorage): StoredLedger => Boolean =
    if (!reaches(range)) _ => false
    else {
      val sums     = storage.within(range).iterator.scanLeft(0L)(_ + storage.bytesWithin(range, _))
      val isLittle = !newestOnly && sums.forall(_ <= MaxBytes)
      ledger => isLittle || storage.isNewest(ledger.id) && storage.bytesWithin(range, ledger) <= MaxBytes
    }
}

private[pulsarspark] object StreamTail {

  /** Limit of bytes that the broker reads: the size of the smallest task. */
  private val MaxBytes = 4L * 1024 * 1024
}
