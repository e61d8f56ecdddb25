package io.github.pulsarspark.storage

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.JsonNode

import io.github.pulsarspark.offsets.Position

/** One ledger of a topic partition as the broker describes it.
  *
  * @param entries
  *   number of entries, 0 while it is being written
  * @param metadata
  *   BookKeeper's metadata as text; None for ledgers that are in cloud storage alone
  */
private[storage] final case class StoredLedger(id: Long, entries: Long, bytes: Long, isOffloaded: Boolean, metadata: Option[String])

/** How a topic partition is stored at one moment: the admin API's `internalStats`.
  *
  * @param ledgers
  *   in the order of their ids
  * @param lastConfirmed
  *   the last entry that is stored for good; entries behind it must not be read
  * @param openBytes
  *   bytes in the ledger that is being written
  * @param openEntries
  *   entries in it, some of which may not be confirmed yet: good for estimates only
  */
private[storage] final case class TopicStorage(ledgers: Seq[StoredLedger], lastConfirmed: Position, openBytes: Long, openEntries: Long) {

  private val byId = ledgers.map(l => l.id -> l).toMap

  def get(ledgerId: Long): Option[StoredLedger] = byId.get(ledgerId)

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
}

private[storage] object TopicStorage {
  private val GuessedEntryBytes = 4096L

  /** Reads an `internalStats` answer. */
  def parse(stats: JsonNode): TopicStorage = TopicStorage(
    stats.path("ledgers").asScala.map { l =>
      StoredLedger(
        l.path("ledgerId").asLong,
        l.path("entries").asLong,
        l.path("size").asLong,
        l.path("offloaded").asBoolean,
        Option(l.path("metadata").asText(null)).filter(_.nonEmpty)
      )
    }.toSeq.sortBy(_.id),
    Position.parse(stats.path("lastConfirmedEntry").asText).getOrElse(Position(-1, -1)),
    stats.path("currentLedgerSize").asLong,
    stats.path("currentLedgerEntries").asLong
  )
}
