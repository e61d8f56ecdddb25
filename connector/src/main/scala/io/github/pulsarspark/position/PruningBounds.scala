package io.github.pulsarspark.position

/** What is wanted of a topic partition: messages that were published within `times` and are in entries with such ids,
  * in ledgers with such ids.
  */
final case class PruningBounds(
    times: Interval = Interval.Always,
    ledgers: Interval = Interval.Always,
    entries: Interval = Interval.Always
) {

  def contains(publishTime: Long, ledgerId: Long, entryId: Long): Boolean =
    times.contains(publishTime) && ledgers.contains(ledgerId) && entries.contains(entryId)

  def isEmpty: Boolean = times.isEmpty || ledgers.isEmpty || entries.isEmpty

  /** What both want. */
  def intersect(that: PruningBounds): PruningBounds =
    PruningBounds(times.intersect(that.times), ledgers.intersect(that.ledgers), entries.intersect(that.entries))

  /** What one of them wants, and as little else as can be said like this. */
  def around(that: PruningBounds): PruningBounds =
    if (isEmpty) that
    else if (that.isEmpty) this
    else PruningBounds(times.around(that.times), ledgers.around(that.ledgers), entries.around(that.entries))
}

object PruningBounds {
  val Everything: PruningBounds = PruningBounds()
  val Nothing: PruningBounds    = PruningBounds(times = Interval.Never)
}
