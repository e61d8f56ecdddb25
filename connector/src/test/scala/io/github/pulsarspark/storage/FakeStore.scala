package io.github.pulsarspark.storage

import scala.collection.mutable

import io.netty.buffer.{ByteBuf, Unpooled}

import io.github.pulsarspark.errors.LostRanges
import io.github.pulsarspark.format.Tier
import io.github.pulsarspark.format.entry.EntrySource
import io.github.pulsarspark.storage.segment.{LedgerMetadata, Segment, SegmentLocation, SegmentStore, SegmentUnreadable, StoredLedger}

/** A store in memory, of the ledgers that `holding` selects. It writes down what is requested of it. */
private[storage] final class FakeStore(
    name: String,
    trace: mutable.Buffer[String],
    holding: Long => Boolean = _ => true
) extends SegmentStore {

  override type Location = FakeStore.Place

  /** Reason why nothing is read now. */
  var obstacle: Option[String] = None

  /** The sources of each opened segment, in turn; the last one goes for all that follow. */
  var sources: Seq[Segment => EntrySource] = Seq(s => new FakeEntries(s.ledgerId, s.first to s.last))

  /** Split points of each ledger. */
  var points: Seq[Long] = Nil

  override def own(location: SegmentLocation): Option[Location] = location match {
    case FakeStore.Place(store) if store == name => Some(FakeStore.Place(store))
    case _                                       => None
  }

  override def holds(ledger: StoredLedger): Boolean = holding(ledger.id)

  override def locate(
      ledgers: Map[String, Seq[StoredLedger]],
      admin: LedgerMetadata
  ): String => StoredLedger => Either[String, Location] = {
    trace += s"$name locates ${ledgers.toSeq.flatMap(_._2).map(_.id).sorted.mkString(",")}"
    _ => ledger => Either.cond(ledger.entries > 0, FakeStore.Place(name), s"ledger ${ledger.id} is empty")
  }

  override def check(): Unit = trace += s"$name checks"

  override def obstacle(ledgerId: Long, location: Location): Option[String] = obstacle

  override def splitPoints(locations: Seq[Location]): Map[Long, Seq[Long]] = {
    trace += s"$name splits ${locations.size}"
    locations.indices.map(i => i.toLong -> points).toMap
  }

  override def open(segment: Segment, location: Location): EntrySource = {
    trace += s"$name ${segment.first}-${segment.last}"
    val source = sources.head
    if (sources.size > 1) sources = sources.tail
    source(segment)
  }

  override def failed(failure: SegmentUnreadable): Unit =
    trace += (s"$name failed" +: failure.silent).mkString(" ")

  override def close(): Unit = trace += s"$name closes"
}

private[storage] object FakeStore {
  final case class Place(store: String) extends SegmentLocation {
    override def level: Tier                     = Tier.Tiered
    override def hosts(entry: Long): Seq[String] = Seq(store)
  }
}

/** Entries by their ids.
  *
  * @param failure
  *   raised after them
  */
private[storage] final class FakeEntries(
    override val ledgerId: Long,
    ids: Seq[Long],
    failure: => Option[Throwable] = None,
    override val lost: LostRanges = LostRanges.none
) extends EntrySource {
  private var left             = ids.toList
  private var current          = -1L
  override def entryId: Long   = current
  override def entry: ByteBuf  = Unpooled.EMPTY_BUFFER
  override def next(): Boolean = left match {
    case id :: rest =>
      current = id
      left = rest
      true
    case Nil =>
      failure.foreach(throw _)
      false
  }
  override def close(): Unit = FakeEntries.closed += 1
}

private[storage] object FakeEntries {

  /** Sources closed by this JVM. */
  var closed = 0
}
