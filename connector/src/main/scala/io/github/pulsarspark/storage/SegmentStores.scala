package io.github.pulsarspark.storage

import scala.util.Using

import io.github.pulsarspark.format.entry.EntrySource
import io.github.pulsarspark.options.ReadOptions
import io.github.pulsarspark.storage.bookkeeper.BookKeeperStore
import io.github.pulsarspark.storage.segment.{HadoopSettings, LedgerMetadata, Segment, SegmentLocation, SegmentStore, SegmentUnreadable, StoredLedger}
import io.github.pulsarspark.storage.offload.OffloadStore

/** All storage back ends as one: each call goes to the store of the ledger, the location or the segment.
  *
  * @param stores
  *   the first one that holds a ledger reads it
  */
private[storage] final class SegmentStores(stores: Seq[SegmentStore]) extends AutoCloseable {

  /** See [[SegmentStore.locate]].
    *
    * @param ledgers
    *   by topic partition, in any store
    */
  def locate(
      ledgers: Map[String, Seq[StoredLedger]],
      admin: LedgerMetadata
  ): String => StoredLedger => Either[String, SegmentLocation] = {
    val held = ledgers.toSeq.flatMap { case (topic, all) => all.groupBy(storeOf).map { case (s, l) => (s, topic, l) } }
    val locators = held.groupBy(_._1).collect { case (Some(store), all) =>
      store -> store.locate(all.map { case (_, topic, l) => topic -> l }.toMap, admin)
    }
    topic => {
      val ofTopic = locators.map { case (store, locate) => store -> locate(topic) }
      ledger =>
        storeOf(ledger).flatMap(ofTopic.get).fold[Either[String, SegmentLocation]](
          Left(s"no storage is known that has ledger ${ledger.id}")
        )(_(ledger))
    }
  }

  private def storeOf(ledger: StoredLedger): Option[SegmentStore] = stores.find(_.holds(ledger))

  def check(): Unit = stores.foreach(_.check())

  def obstacle(ledgerId: Long, location: SegmentLocation): Option[String] =
    inItsStore(location)(s => s.own(location).map(s.obstacle(ledgerId, _)))

  def splitPoints(segments: Seq[Segment]): Map[Long, Seq[Long]] = stores.flatMap { store =>
    val locations = segments.flatMap(s => store.own(s.location))
    if (locations.isEmpty) Map.empty[Long, Seq[Long]] else store.splitPoints(locations)
  }.toMap

  def open(segment: Segment): EntrySource =
    inItsStore(segment.location)(s => s.own(segment.location).map(s.open(segment, _)))

  def failed(segment: Segment, failure: SegmentUnreadable): Unit =
    inItsStore(segment.location)(s => s.own(segment.location).map(_ => s.failed(failure)))

  private def inItsStore[A](location: SegmentLocation)(use: SegmentStore => Option[A]): A =
    stores.iterator.flatMap(use(_)).nextOption().getOrElse(
      throw new IllegalArgumentException(s"no store for ${location.getClass.getName}")
    )

  override def close(): Unit = Using.Manager(use => stores.foreach(use(_))).get
}

private[storage] object SegmentStores {

  /** The one list of storage back ends. */
  private val all: Seq[(ReadOptions, HadoopSettings) => SegmentStore] = Seq(
    (options, hadoop) => new OffloadStore(options, hadoop),
    (options, _) => new BookKeeperStore(options)
  )

  def apply(options: ReadOptions, hadoop: HadoopSettings): SegmentStores =
    new SegmentStores(all.map(_(options, hadoop)))
}
