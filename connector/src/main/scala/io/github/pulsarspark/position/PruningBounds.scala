package io.github.pulsarspark.position

/** Bounds on the messages of a topic partition that a query can keep: published within `times`, in `ledgers` and
  * `entries` with ids in these intervals.
  *
  * @param timesUntil
  *   the last entry that `times` counts for; all without it
  */
final case class PruningBounds(
    times: Interval = Interval.Always,
    ledgers: Interval = Interval.Always,
    entries: Interval = Interval.Always,
    timesUntil: Option[Position] = None
) {

  def contains(publishTime: Long, ledgerId: Long, entryId: Long): Boolean =
    (times.contains(publishTime) || isAfterTimes(ledgerId, entryId)) && ledgers.contains(ledgerId) &&
      entries.contains(entryId)

  private def isAfterTimes(ledgerId: Long, entryId: Long) = timesUntil.exists(end =>
    ledgerId > end.ledgerId || ledgerId == end.ledgerId && entryId > end.entryId
  )

  def isEmpty: Boolean = times.isEmpty || ledgers.isEmpty || entries.isEmpty

  /** Messages that both keep, and perhaps some that only one of them keeps, where times count up to an entry. */
  def intersect(that: PruningBounds): PruningBounds =
    PruningBounds(times.intersect(that.times), ledgers.intersect(that.ledgers), entries.intersect(that.entries),
      (timesUntil ++ that.timesUntil).minOption)

  /** The narrowest bounds that keep the messages of both. */
  def around(that: PruningBounds): PruningBounds =
    if (isEmpty) that
    else if (that.isEmpty) this
    else
      PruningBounds(times.around(that.times), ledgers.around(that.ledgers), entries.around(that.entries),
        (timesUntil ++ that.timesUntil).minOption)
}

object PruningBounds {
  val Everything: PruningBounds = PruningBounds()
  val Nothing: PruningBounds    = PruningBounds(times = Interval.Never)
}
