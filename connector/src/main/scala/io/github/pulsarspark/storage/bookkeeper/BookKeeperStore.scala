package io.github.pulsarspark.storage.bookkeeper

import io.github.pulsarspark.format.entry.EntrySource
import io.github.pulsarspark.options.ReadOptions
import io.github.pulsarspark.pulsar.topics.TopicNames
import io.github.pulsarspark.policy.AllowedHosts
import io.github.pulsarspark.storage.bookkeeper.bookies.{BookieAddress, BookieConnections}
import io.github.pulsarspark.storage.bookkeeper.client.BookKeeperPool
import io.github.pulsarspark.storage.bookkeeper.protocol.WireConnections
import io.github.pulsarspark.storage.segment.{BookieLocation, LedgerMetadata, Segment, SegmentLocation, SegmentStore, SegmentUnreadable, StoredLedger}

/** Ledgers on bookies. A bookie that does not respond is an obstacle for the ledgers that need it, see
  * [[Reachability]].
  */
private[storage] final class BookKeeperStore(options: ReadOptions) extends SegmentStore {
  import BookKeeperStore._

  override type Location = BookieLocation

  private val connections  = new WireConnections(options.bookKeeper)
  private val reachability = new Reachability(options.bookKeeper)

  override def own(location: SegmentLocation): Option[BookieLocation] = location match {
    case here: BookieLocation => Some(here)
    case _                    => None
  }

  override def holds(ledger: StoredLedger): Boolean = !ledger.isOffloaded

  /** Locates ledgers by the metadata in their list; sends no request. */
  override def locate(
      ledgers: Map[String, Seq[StoredLedger]],
      admin: LedgerMetadata
  ): String => StoredLedger => Either[String, BookieLocation] = { topic =>
    val owner = TopicNames.managedLedger(topic)
    ledger =>
      for {
        parsed   <- ledger.home.toRight(s"the broker reported no metadata of ledger ${ledger.id}")
        reported <- parsed
        _        <- belongs(ledger.id, reported, owner)
        _        <- AllowedHosts.obstacle(addresses(reported.bookies)).toLeft(())
        _        <-
          Either.cond(Digests(reported.digestType), (),
            s"ledger ${ledger.id} has the digest type ${reported.digestType}")
      } yield reported
  }

  /** The ledgers of a shadow topic, for instance, are another topic's. */
  private def belongs(ledgerId: Long, location: BookieLocation, owner: String): Either[String, Unit] = Either.cond(
    location.managedLedger.contains(owner),
    (),
    s"ledger $ledgerId belongs to ${location.managedLedger.getOrElse("no managed ledger")}"
  )

  /** Reads the files of `bookKeeper.tls...`, looks for the plug-in of `bookkeeper.*`, and fails for an address of
    * `bookieAddresses` that the policy of a server does not list.
    */
  override def check(): Unit = {
    addresses(options.bookKeeper.addresses.keys.toSeq.sorted).foreach { case (host, port) =>
      AllowedHosts.check(BookieAddress.OptionKey, host, port)
    }
    options.bookKeeper.tls.foreach(BookieConnections.context)
    BookKeeperPool.settings(options.bookKeeper)
    ()
  }

  private def addresses(bookies: Seq[String]) =
    bookies.flatMap(BookieAddress.of(_, options.bookKeeper)).map(a => a.host -> a.port)

  override def obstacle(ledgerId: Long, location: BookieLocation): Option[String] =
    reachability.obstacle(location).map(problems => s"$problems, where ledger $ledgerId is")

  /** Bookies read any entry alike. */
  override def splitPoints(locations: Seq[BookieLocation]): Map[Long, Seq[Long]] = Map.empty

  override def open(segment: Segment, location: BookieLocation): EntrySource =
    BookieEntrySource.open(location, segment, options, connections)

  override def failed(failure: SegmentUnreadable): Unit = reachability.doubt(failure.silent)

  override def close(): Unit = connections.close()
}

private object BookKeeperStore {

  /** Digest types that are checked without a password. */
  private val Digests = Set("CRC32C", "CRC32", "DUMMY")
}
