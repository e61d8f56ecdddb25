package io.github.pulsarspark.metrics

import io.github.pulsarspark.errors.LostRanges

/** The ranges that all tasks passed over. A task that runs again finds the same ones, which count once. */
private[pulsarspark] final class LostRangesTotal extends SumAccumulator(LostRanges.none) {
  override protected def fresh: LostRangesTotal = new LostRangesTotal

  override protected def plus(some: LostRanges, more: LostRanges): LostRanges = {
    val added = more.newest.filterNot(some.newest.contains)
    some ++ LostRanges(more.count - (more.newest.size - added.size), added)
  }
}
