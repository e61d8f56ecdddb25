package io.github.pulsarspark.pulsar.broker

import io.github.pulsarspark.format.RangeGuard
import io.github.pulsarspark.format.entry.{EntrySource, PrecedingEntries}
import io.github.pulsarspark.options.ReadOptions
import io.github.pulsarspark.position.{OffsetRange, Position}

/** The entries of a topic partition before a range, from the broker. Times are looked up with the same allowance as
  * those that bound a query.
  */
private[pulsarspark] final class BrokerPrecedingEntries(topic: String, options: ReadOptions, broker: => BrokerApi)
    extends PrecedingEntries {

  override def placesBefore(publishTime: Long): Iterator[Position] =
    Iterator(0L, options.publishTimeSkew.toMillis).map(allowance =>
      broker.positionsBefore(Map(topic -> (publishTime - allowance)))(topic)
    )

  /** Opens a range. Reports no losses: the caller notices missing entries. */
  override def open(startExclusive: Position, endInclusive: Position): EntrySource = {
    val range = OffsetRange(topic, startExclusive, endInclusive)
    BrokerEntrySource(range, options.copy(failOnDataLoss = false), new RangeGuard(range))
  }
}
