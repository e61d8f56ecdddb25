package io.github.pulsarspark.cluster

import java.time.Instant

import io.github.pulsarspark.position.Position

/** An entry of a made-up topic partition.
  *
  * @param bytes
  *   as the broker stored them
  */
final case class TopicEntry(at: Position, bytes: Array[Byte], kind: TopicEntry.Kind, publishTime: Long, messages: Int) {
  override def toString: String = s"$at $kind" + (if (messages == 0) "" else s" of $messages")
}

object TopicEntry {

  /** Meaning of an entry to its readers. */
  sealed trait Kind

  /** A message, or a batch of them; of a transaction, if it has an id. */
  final case class Messages(transaction: Option[(Long, Long)] = None) extends Kind

  /** An entry of the broker itself. */
  case object Marker extends Kind

  /** A part of a message.
    *
    * @param whole
    *   the message in one entry, described as this part is
    */
  final case class Chunk(uuid: String, id: Int, count: Int, whole: Array[Byte]) extends Kind {
    override def toString: String = s"chunk $id of $count of $uuid"
  }

  /** A batch whose bytes do not have their checksum. */
  case object Damaged extends Kind

  /** Bytes that are no message; brokers dispatch no such entry. */
  case object Unreadable extends Kind
}

/** Place of a ledger that is not read through the broker. */
sealed trait LedgerHome

object LedgerHome {
  case object Bookie extends LedgerHome

  /** Copied to the offload storage under this id. */
  final case class Offloaded(uuid: String) extends LedgerHome

  /** Unknown place: the broker alone can read the ledger. */
  case object Unknown extends LedgerHome
}

/** A ledger of a topic partition; only the newest one may be empty. */
final case class TopicLedger(id: Long, entries: Vector[TopicEntry])

/** A topic partition as a broker has it: managed ledgers' rules of where cursors stand, and which entries it
  * dispatches.
  *
  * @param ledgers
  *   those that exist, in order; one at least
  * @param aborted
  *   transactions
  * @param showsBrokerMetadata
  *   whether the broker sends what it added itself to an entry, such as an index
  * @param reportsTransactions
  *   whether the admin service knows the outcome of transactions
  * @param created
  *   when the topic was created, as the admin service reports it
  * @param named
  *   the last message that the broker names, where it keeps an earlier one
  */
final case class StoredTopic(
    name: String,
    ledgers: Vector[TopicLedger],
    aborted: Set[(Long, Long)] = Set.empty,
    home: Long => LedgerHome = _ => LedgerHome.Bookie,
    showsBrokerMetadata: Boolean = true,
    reportsTransactions: Boolean = true,
    created: Option[Instant] = None,
    named: Option[Position] = None
) {
  val entries: Vector[TopicEntry] = ledgers.flatMap(_.entries)

  /** The last entry that is stored; entry -1 when there is none. */
  val lastConfirmed: Position = entries.lastOption.fold(Position(ledgers.last.id, -1))(_.at)

  def isDispatched(entry: TopicEntry): Boolean = entry.kind match {
    case TopicEntry.Marker | TopicEntry.Unreadable => false
    case TopicEntry.Messages(Some(txn))            => !aborted(txn)
    case _                                         => true
  }

  /** The last message that a broker sends. */
  def lastMessage: Position = entries.filter(isDispatched).lastOption.fold(Position(-1, -1))(_.at)

  /** Index of the first entry after a position. */
  def indexAfter(position: Position): Int = {
    val found = entries.indexWhere(_.at > position)
    if (found < 0) entries.size else found
  }

  /** Position of the cursor whose next entry has this index. */
  def cursorBefore(index: Int): Position =
    if (index >= entries.size) lastConfirmed
    else {
      val next = entries(index).at
      if (next.entryId > 0) Position(next.ledgerId, next.entryId - 1)
      else {
        val earlier = ledgers.filter(_.id < next.ledgerId)
        earlier.reverseIterator.flatMap(_.entries.lastOption).map(_.at).nextOption()
          .getOrElse(Position(earlier.headOption.fold(next.ledgerId)(_.id), -1))
      }
    }
}
