package io.github.pulsarspark.storage.segment

import io.github.pulsarspark.format.entry.EntrySource

/** A storage back end: ledgers that are read without the broker. The driver and each task have an instance of their
  * own, used by one thread. What they remember of failures is shared by the JVM.
  */
private[storage] trait SegmentStore extends AutoCloseable {

  /** Location of a ledger in this store. */
  type Location <: SegmentLocation

  /** The location, if it is in this store. */
  def own(location: SegmentLocation): Option[Location]

  /** True if this store reads the ledger. */
  def holds(ledger: StoredLedger): Boolean

  /** Locates ledgers; requests what only the admin service knows once, for all of them. Fails as the admin service
    * does.
    *
    * @param ledgers
    *   by topic partition those that this store holds, some at least
    * @return
    *   by topic partition and ledger where it is; Left: why that is not known
    */
  def locate(
      ledgers: Map[String, Seq[StoredLedger]],
      admin: LedgerMetadata
  ): String => StoredLedger => Either[String, Location]

  /** Fails when options of this store cannot work, before anything is read. */
  def check(): Unit = ()

  /** Reason why a ledger cannot be read from this JVM now; None if it can. May wait some seconds. */
  def obstacle(ledgerId: Long, location: Location): Option[String]

  /** Preferred split points: by ledger id, entries at which a read of it may start. A ledger without any is split
    * anywhere. Does not fail when the storage does: a task meets that failure again, and can fall back.
    */
  def splitPoints(locations: Seq[Location]): Map[Long, Seq[Long]]

  /** The entries of a segment. It and its source fail with [[SegmentUnreadable]], and wait for an entry no longer than
    * `pollTimeoutMs`. May request the first entries at once.
    */
  def open(segment: Segment, location: Location): EntrySource

  /** Remembers what did not respond, for [[obstacle]]. */
  def failed(failure: SegmentUnreadable): Unit

  /** Called after the sources are closed. */
  override def close(): Unit = ()
}
