package io.github.pulsarspark.read.stream.lag

import io.github.pulsarspark.position.{PartitionBounds, Position, PulsarOffset}

/** Unread entries of one topic partition.
  *
  * @param from
  *   where the stream stands
  * @param entries
  *   how many entries follow, also markers; None when it is not known
  */
private[pulsarspark] final case class PartitionBacklog(partition: String, from: Position, entries: Option[Long])

/** Unread entries of a stream.
  *
  * @param behind
  *   the topic partitions that have messages after the place where the stream stands
  */
private[pulsarspark] final case class Backlog(behind: Seq[PartitionBacklog]) {

  /** Number of entries; 0 when everything is read, None when it is unknown. */
  def entries: Option[Long] =
    Option.when(behind.forall(_.entries.nonEmpty))(behind.flatMap(_.entries).sum)

  /** The partition that is furthest behind. An unknown number of entries counts as more than any other, because it is
    * in several ledgers. Ids of ledgers grow with time in the whole cluster, so among these the oldest ledger decides.
    */
  def worst: Option[PartitionBacklog] =
    behind.minByOption(p => (p.entries.nonEmpty, p.entries.fold(p.from.ledgerId)(-_), p.partition))
}

/** Measures backlogs. Pure. */
private[pulsarspark] object Backlog {

  /** @param read
    *   where the stream stands
    * @param bounds
    *   what the partitions hold
    * @param isCompacted
    *   whether the stream reads the compacted view, which lacks an unknown number of entries
    * @param between
    *   the number of entries in one ledger of a partition, and in those between it and a later one, if it is known
    */
  def of(
      read: PulsarOffset,
      bounds: Map[String, PartitionBounds],
      isCompacted: Boolean,
      between: (String, Long, Long) => Option[(Long, Long)]
  ): Backlog = Backlog(
    bounds.toSeq.flatMap { case (partition, b) =>
      val from = (read.positions.get(partition) ++ Seq(b.first)).max
      def left = if (isCompacted) None else entries(from, b.last, between(partition, _, _))
      Option.when(from < b.last)(PartitionBacklog(partition, from, left))
    }
  )

  /** Entries after a position up to another. An entry of which messages are left counts. None when the two are in
    * different ledgers, and it is not known how many entries these have.
    */
  private def entries(from: Position, to: Position, between: (Long, Long) => Option[(Long, Long)]): Option[Long] =
    if (from.ledgerId == to.ledgerId) Some(to.entryId - from.firstEntryAfter + 1)
    else between(from.ledgerId, to.ledgerId).map { case (first, others) =>
      math.max(0L, first - from.firstEntryAfter) + others + to.entryId + 1
    }
}
