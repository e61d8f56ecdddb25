package io.github.pulsarspark.storage.offload

import scala.concurrent.duration._
import scala.util.{Failure, Success}

import org.slf4j.LoggerFactory

import io.github.pulsarspark.common.Recently
import io.github.pulsarspark.format.entry.EntrySource
import io.github.pulsarspark.options.ReadOptions
import io.github.pulsarspark.policy.AllowedStorage
import io.github.pulsarspark.pulsar.topics.TopicNames
import io.github.pulsarspark.storage.segment.{HadoopSettings, LedgerMetadata, Segment, SegmentLocation, SegmentStore, SegmentUnreadable, StoredLedger}
import io.github.pulsarspark.storage.offload.format.OffloadedLedger

/** Ledgers that brokers offloaded. A storage that did not respond is an obstacle for all its ledgers, see
  * [[UnresponsiveStorage]].
  */
private[storage] final class OffloadStore(options: ReadOptions, hadoop: HadoopSettings) extends SegmentStore {
  import OffloadStore._

  override type Location = OffloadedLedger

  override def own(location: SegmentLocation): Option[OffloadedLedger] = location match {
    case here: OffloadedLedger => Some(here)
    case _                     => None
  }

  override def holds(ledger: StoredLedger): Boolean = ledger.isOffloaded

  /** Fails for an `offload.location` that the policy of a server does not list. */
  override def check(): Unit =
    options.offloadLocation.foreach(AllowedStorage.check("offload.location", _, hadoop.configuration))

  override def locate(
      ledgers: Map[String, Seq[StoredLedger]],
      admin: LedgerMetadata
  ): String => StoredLedger => Either[String, OffloadedLedger] = {
    val offloads = OffloadMetadata.of(ledgers.map { case (topic, all) => topic -> all.map(_.id).toSet }, options, admin)
    topic => {
      val managedLedger = TopicNames.managedLedger(topic)
      ledger =>
        for {
          location <- offloads(topic).location
          _        <- AllowedStorage.obstacle(location.uri, hadoop.configuration).toLeft(())
          uuid     <- offloads(topic).uuids.get(ledger.id).toRight(
            s"the id of the offload of ledger ${ledger.id} is not known"
          )
        } yield OffloadedLedger(ledger.id, uuid, managedLedger, location)
    }
  }

  override def obstacle(ledgerId: Long, location: OffloadedLedger): Option[String] =
    UnresponsiveStorage.obstacle(location.location.uri)

  /** Reads indexes, where Hadoop need not read its configuration for nothing. */
  override def splitPoints(locations: Seq[OffloadedLedger]): Map[Long, Seq[Long]] = {
    val ledgers = locations.filterNot(l => UnresponsiveStorage.contains(l.location.uri))
    if (ledgers.isEmpty) Map.empty else splitPointsOf(ledgers)
  }

  private def splitPointsOf(ledgers: Seq[OffloadedLedger]): Map[Long, Seq[Long]] = {
    val results = ledgers.zip(
      OffloadedLedgers.splitPoints(ledgers, hadoop.configuration, options.client.operationTimeout)
    )
    val failures = results.collect { case (_, Failure(e)) => e }
    failures.headOption.foreach(e =>
      log.warn("The split points of {} offloaded ledgers are not known, first: {}", failures.size, e.getMessage)
    )
    failures.collect { case e: SegmentUnreadable => failed(e) }
    results.collect { case (ledger, Success(points)) => ledger.ledgerId -> points }.toMap
  }

  override def open(segment: Segment, location: OffloadedLedger): EntrySource = {
    AllowedStorage.check("offload.location", location.location.uri, hadoop.configuration)
    OffloadedLedgers.open(location, segment.first, segment.last, hadoop.configuration, options.readAheadBytes,
      options.pollTimeout)
  }

  override def failed(failure: SegmentUnreadable): Unit = failure.silent.foreach(UnresponsiveStorage.add)
}

private object OffloadStore {
  private val log = LoggerFactory.getLogger(classOf[OffloadStore])
}

/** A circuit breaker for storage of offloaded ledgers, by URI: storage that did not respond in time to this JVM is not
  * requested for some minutes, where the broker can read instead. Otherwise each of many ledgers would be waited for
  * until the deadline.
  */
private object UnresponsiveStorage {

  private val Pause  = 5.minutes
  private val silent = new Recently[String](Pause)

  def add(uri: String): Unit = silent.add(uri)

  def contains(uri: String): Boolean = silent.contains(uri)

  /** Reason not to read the location; None if it may be read. */
  def obstacle(uri: String): Option[String] =
    Option.when(contains(uri))(s"$uri did not respond in the last ${Pause.toMinutes} minutes")
}
