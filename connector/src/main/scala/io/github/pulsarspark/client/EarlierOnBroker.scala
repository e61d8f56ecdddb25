package io.github.pulsarspark.client

import io.github.pulsarspark.log.{EarlierEntries, EntrySource, RangeGuard}
import io.github.pulsarspark.offsets.{OffsetRange, Position}
import io.github.pulsarspark.options.ReadOptions

/** The entries of a topic partition in front of a range, from the broker. Times are looked up with the same allowance as those that bound a query. */
private[pulsarspark] final class EarlierOnBroker(topic: String, options: ReadOptions, broker: => Broker) extends EarlierEntries {

  override def placesBefore(publishTime: Long): Iterator[Position] =
    Iterator(0L, options.publishTimeSkew.toMillis).map(allowance => broker.positionsBefore(Map(topic -> (publishTime - allowance)))(topic))

  /** What is gone here is not missed here: who wants it finds out. */
  override def open(startExclusive: Position, endInclusive: Position): EntrySource = {
    val range = OffsetRange(topic, startExclusive, endInclusive)
    BrokerEntrySource(range, options.copy(failOnDataLoss = false), new RangeGuard(range))
  }
}
