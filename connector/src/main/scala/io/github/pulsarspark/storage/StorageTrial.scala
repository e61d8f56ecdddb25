package io.github.pulsarspark.storage

import scala.util.Using

import io.github.pulsarspark.errors.{Conditions, PulsarError}
import io.github.pulsarspark.options.ReadOptions
import io.github.pulsarspark.position.{Interval, Position}
import io.github.pulsarspark.pulsar.admin.AdminApi
import io.github.pulsarspark.storage.bookkeeper.Reachability
import io.github.pulsarspark.storage.segment.{HadoopSettings, LedgerMetadata, Segment, SegmentUnreadable, StoredLedger, TopicStorage}

/** Tries to read what topic partitions have stored, as tasks do, but with no broker to fall back to. For diagnosis. */
private[pulsarspark] final class StorageTrial(
    admin: AdminApi,
    options: ReadOptions,
    hadoop: HadoopSettings,
    partitions: Seq[String]
) extends AutoCloseable {

  private val lists  = new LedgerMetadata(admin, options)
  private val stores = SegmentStores(options, hadoop)

  private lazy val stored: Map[String, TopicStorage] =
    lists.ofTopics(partitions.map(_ -> Interval.Always).toMap, withMetadata = true)

  /** The bookies of all ledgers by id, each with its problem. */
  def bookies(): Seq[(String, Option[String])] = {
    val homes = stored.values.flatMap(_.ledgers).filterNot(_.isOffloaded).flatMap(_.home)
    new Reachability(options.bookKeeper).probeAll(homes.collect { case Right(home) =>
      home.bookies
    }.flatten.toSeq.distinct.sorted)
  }

  /** Reads an entry from bookies; returns its position, or None if no ledger there has one. */
  def entryOnBookies(): Option[Position] = firstOf(!_.isOffloaded)

  /** Reads an entry of an offloaded ledger; returns its position, or None if there is none. */
  def offloadedEntry(): Option[Position] = firstOf(_.isOffloaded)

  private def firstOf(isWanted: StoredLedger => Boolean): Option[Position] = {
    stores.check()
    stored.toSeq.sortBy(_._1).iterator.flatMap { case (topic, storage) =>
      storage.ledgers.reverseIterator.find(l => isWanted(l) && storage.lastEntry(l).exists(_ >= 0)).map(
        read(topic, storage, _)
      )
    }.nextOption()
  }

  private def read(topic: String, storage: TopicStorage, ledger: StoredLedger): Position = {
    val entry    = Position(ledger.id, 0)
    val location = stores.locate(Map(topic -> Seq(ledger)), lists)(topic)(ledger).fold(
      reason =>
        throw Conditions.SegmentUnavailable(topic = topic, from = entry.preceding.toString, to = entry.toString,
          reason = reason).exception,
      identity
    )
    try {
      Using.resource(stores.open(Segment(ledger.id, 0, 0, storage.entryBytes(ledger), location)))(_.next())
      entry
    } catch { case e: SegmentUnreadable => throw named(topic, entry, e) }
  }

  private def named(topic: String, entry: Position, failure: SegmentUnreadable): Throwable = failure.getCause match {
    case error: Throwable with PulsarError => error
    case _ => Conditions.SegmentReadFailed(topic = topic, position = entry.preceding.toString,
        cause = failure.getMessage).causedBy(failure)
  }

  override def close(): Unit = stores.close()
}
