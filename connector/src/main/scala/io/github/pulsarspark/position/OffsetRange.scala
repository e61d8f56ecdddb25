package io.github.pulsarspark.position

/** Messages of one topic partition after `startExclusive`, up to and including `endInclusive`.
  *
  * @param topic
  *   full name of a partition, or of a topic that is not partitioned
  */
final case class OffsetRange(topic: String, startExclusive: Position, endInclusive: Position) {
  def isEmpty: Boolean = endInclusive <= startExclusive

  /** True if the range goes on with what the topic will have. */
  def isEndless: Boolean = endInclusive == Position.AfterAll

  /** The first entry of a ledger of the range. */
  def firstEntry(ledgerId: Long): Long =
    if (ledgerId == startExclusive.ledgerId) startExclusive.firstEntryAfter else 0

  /** Number of entries, some of which may be no messages; None if the range goes over several ledgers. */
  def entries: Option[Long] =
    Option.when(startExclusive.ledgerId == endInclusive.ledgerId)(
      endInclusive.entryId - startExclusive.firstEntryAfter + 1
    )

  override def toString: String = s"$topic ($startExclusive, $endInclusive]"
}
