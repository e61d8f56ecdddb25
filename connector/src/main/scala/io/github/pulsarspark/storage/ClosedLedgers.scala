package io.github.pulsarspark.storage

import scala.collection.mutable

import io.github.pulsarspark.format.EntryIndex
import io.github.pulsarspark.format.entry.EntrySource
import io.github.pulsarspark.options.ReadOptions
import io.github.pulsarspark.position.{OffsetRange, Position}
import io.github.pulsarspark.storage.segment.{HadoopSettings, Segment, SegmentUnreadable}

/** Closed ledgers of a range that can be read without the broker, for the driver, which reads single entries of them.
  * For one thread.
  */
private[pulsarspark] trait ClosedLedgers extends AutoCloseable {

  /** Consecutive segments, one for each ledger, from the start of the range. */
  def segments: Seq[Segment]

  /** Reads entries of these ledgers; None for those without a usable index. Fails where one cannot be read. */
  def indexes(entries: Seq[Position]): Seq[Option[EntryIndex]]
}

private[pulsarspark] object ClosedLedgers {

  /** @param bytes
    *   ledgers with this many bytes suffice, not counting the first ledger
    * @param options
    *   of the query
    * @param locator
    *   by options of the driver's
    */
  def apply(
      range: OffsetRange,
      bytes: Long,
      options: ReadOptions,
      hadoop: HadoopSettings,
      locator: ReadOptions => SegmentLocator
  ): ClosedLedgers = {
    val driver  = options.orBroker
    val located = locator(driver)
    new Stored(
      located.stored(range, bytes).flatMap(_.segment).filter(_.ledgerId < range.endInclusive.ledgerId),
      SegmentStores(driver, hadoop),
      () => located.moved(range.topic)
    )
  }

  /** Entries that are requested at a time. */
  private val Parallelism = 16

  /** @param moved called when an entry is not where it was */
  private[storage] final class Stored(val segments: Seq[Segment], stores: SegmentStores, moved: () => Unit)
      extends ClosedLedgers {
    private val byId = segments.map(s => s.ledgerId -> s).toMap

    override def indexes(entries: Seq[Position]): Seq[Option[EntryIndex]] =
      entries.map(one).grouped(Parallelism).flatMap(read).toSeq

    private def one(entry: Position): Segment = {
      val ledger = byId(entry.ledgerId)
      val bytes  = math.max(1L, ledger.bytes / (ledger.last - ledger.first + 1))
      ledger.copy(first = entry.entryId, last = entry.entryId, bytes = bytes)
    }

    /** Opens all before it waits for the first. */
    private def read(entries: Seq[Segment]): Seq[Option[EntryIndex]] = {
      val opened = mutable.Buffer.empty[EntrySource]
      try {
        entries.foreach(e => opened += noting(e)(stores.open(e)))
        entries.zip(opened).map { case (e, source) =>
          noting(e)(if (source.next()) EntryIndex.of(source.entry) else None)
        }
      } finally opened.foreach(_.close())
    }

    private def noting[A](segment: Segment)(body: => A): A =
      try body
      catch {
        case e: SegmentUnreadable =>
          stores.failed(segment, e)
          moved()
          throw e
      }

    override def close(): Unit = stores.close()
  }
}
