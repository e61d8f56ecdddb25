package io.github.pulsarspark.storage.segment

import io.github.pulsarspark.position.{Interval, OffsetRange, Position}
import io.github.pulsarspark.pulsar.admin.{JsonFields, LedgerSink}

/** One ledger of a topic partition as the broker describes it.
  *
  * @param entries
  *   number of entries, 0 while it is being written
  * @param home
  *   on which bookies it is, or why that is not understood; None when the broker reported no metadata
  */
private[pulsarspark] final case class StoredLedger(
    id: Long,
    entries: Long,
    bytes: Long,
    isOffloaded: Boolean,
    home: Option[Either[String, BookieLocation]]
)

/** Storage of a topic partition at one moment, from the admin API's `internalStats`.
  *
  * @param ledgers
  *   in the order of their ids, without a gap
  * @param listed
  *   ids of the first and the newest existing ledger, whether among `ledgers` or not
  * @param lastConfirmed
  *   the last entry that is stored for good; later entries must not be read
  * @param openBytes
  *   bytes in the ledger that is being written
  * @param openEntries
  *   entries in it, some of which may not be confirmed yet: good for estimates only
  */
private[pulsarspark] final case class TopicStorage(
    ledgers: IndexedSeq[StoredLedger],
    listed: Option[(Long, Long)],
    lastConfirmed: Position,
    openBytes: Long,
    openEntries: Long
) {
  private val ids = ledgers.map(_.id).toArray

  def get(ledgerId: Long): Option[StoredLedger] = {
    val index = java.util.Arrays.binarySearch(ids, ledgerId)
    Option.when(index >= 0)(ledgers(index))
  }

  def isNewest(ledgerId: Long): Boolean = listed.exists(_._2 == ledgerId)

  /** The last entry of a ledger that may be read; None when that is not known. */
  def lastEntry(ledger: StoredLedger): Option[Long] =
    if (ledger.id == lastConfirmed.ledgerId) Some(lastConfirmed.entryId)
    else if (ledger.id < lastConfirmed.ledgerId && ledger.entries > 0) Some(ledger.entries - 1)
    else None

  /** Average size of an entry in bytes, at least 1; a guess where nothing is known. */
  def entryBytes(ledger: StoredLedger): Long = {
    val (bytes, entries) = if (ledger.entries > 0) (ledger.bytes, ledger.entries) else (openBytes, openEntries)
    if (entries > 0) math.max(1L, bytes / entries) else TopicStorage.GuessedEntryBytes
  }

  /** This storage without the ledgers before this id. */
  def from(ledgerId: Long): TopicStorage =
    if (ledgers.headOption.exists(_.id < ledgerId)) copy(ledgers = ledgers.dropWhile(_.id < ledgerId)) else this

  /** The ledgers of a range, as far as they are there. */
  def within(range: OffsetRange): Seq[StoredLedger] =
    ledgers.filter(l => l.id >= range.startExclusive.ledgerId && l.id <= range.endInclusive.ledgerId)

  /** Estimates the bytes that a range has of a ledger. */
  def bytesWithin(range: OffsetRange, ledger: StoredLedger): Long = {
    val last = if (range.endInclusive.ledgerId == ledger.id) Some(range.endInclusive.entryId) else lastEntry(ledger)
    last.fold(0L)(_ - range.firstEntry(ledger.id) + 1) * entryBytes(ledger)
  }

  /** Consecutive closed ledgers, starting at this one. */
  def closedFrom(ledgerId: Long): Seq[StoredLedger] =
    if (get(ledgerId).isEmpty) Nil
    else from(ledgerId).ledgers.takeWhile(l => l.id < lastConfirmed.ledgerId && !isNewest(l.id) && l.entries > 0)

  /** Number of entries in one ledger, and in those between it and a later one. None unless the later one is listed; a
    * deleted ledger has none.
    */
  def entriesBetween(from: Long, to: Long): Option[(Long, Long)] = Option.when(listed.exists(_._2 >= to)) {
    val (first, between) = ledgers.filter(l => l.id >= from && l.id < to).partition(_.id == from)
    (first.map(_.entries).sum, between.map(_.entries).sum)
  }

  /** A list of ledgers with the metadata that is known here. */
  def addTo(listed: TopicStorage): TopicStorage = listed.copy(ledgers =
    listed.ledgers.map(l => if (l.isOffloaded) l else l.copy(home = get(l.id).flatMap(_.home)))
  )

  /** This storage after the broker has confirmed a position: ledgers are only added after the newest. None if the
    * position is in an unknown ledger.
    */
  def confirmedTo(position: Position): Option[TopicStorage] =
    if (get(position.ledgerId).isEmpty) None
    else if (isNewest(position.ledgerId) && position > lastConfirmed) Some(copy(lastConfirmed = position.wholeEntry))
    else Some(this)
}

private[pulsarspark] object TopicStorage {
  private val GuessedEntryBytes = 4096L

  /** Parses an `internalStats` response.
    *
    * @param ids
    *   of the ledgers that are needed
    */
  final class Reader(ids: Interval) extends LedgerSink[TopicStorage] {
    private val parser  = new BookieMetadataParser
    private val ledgers = IndexedSeq.newBuilder[StoredLedger]
    private var first   = Long.MaxValue
    private var newest  = Long.MinValue

    override def ledger(fields: JsonFields): Unit = {
      val id = fields.long("ledgerId")
      first = math.min(first, id)
      newest = math.max(newest, id)
      if (ids.contains(id)) {
        val home = fields.text("metadata").map(parser.parse(_))
        ledgers += StoredLedger(id, fields.long("entries"), fields.long("size"), fields.flag("offloaded"), home)
      }
    }

    override def end(fields: JsonFields): TopicStorage = TopicStorage(
      ledgers.result().sortBy(_.id),
      Option.when(first <= newest)((first, newest)),
      fields.text("lastConfirmedEntry").flatMap(Position.parse).getOrElse(Position(-1, -1)),
      fields.long("currentLedgerSize"),
      fields.long("currentLedgerEntries")
    )
  }
}
