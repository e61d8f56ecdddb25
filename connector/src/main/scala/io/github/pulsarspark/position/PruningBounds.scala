package io.github.pulsarspark.position

/** Bounds on the messages of a topic partition that a query can keep: published within `times`, in `ledgers` and
  * `entries` with ids in these intervals.
  */
final case class PruningBounds(
    times: Interval = Interval.Always,
    ledgers: Interval = Interval.Always,
    entries: Interval = Interval.Always
) {

  def contains(publishTime: Long, ledgerId: Long, entryId: Long): Boolean =
    times.contains(publishTime) && ledgers.contains(ledgerId) && entries.contains(entryId)

  def isEmpty: Boolean = times.isEmpty || ledgers.isEmpty || entries.isEmpty

  /** Messages that both keep. */
  def intersect(that: PruningBounds): PruningBounds =
    PruningBounds(times.intersect(that.times), ledgers.intersect(that.ledgers), entries.intersect(that.entries))

  /** The narrowest bounds that keep the messages of both. */
  def around(that: PruningBounds): PruningBounds =
    if (isEmpty) that
    else if (that.isEmpty) this
    else PruningBounds(times.around(that.times), ledgers.around(that.ledgers), entries.around(that.entries))
}

object PruningBounds {
  val Everything: PruningBounds = PruningBounds()
  val Nothing: PruningBounds    = PruningBounds(times = Interval.Never)
}
