package io.github.pulsarspark.metrics

import io.github.pulsarspark.format.Tier

/** Metric of what one tier delivered to a read: `pulsarBrokerEntries`, `pulsarBookieBytes`, ... */
private[pulsarspark] abstract class TierMetric(val level: Tier, val measure: Measure)
    extends ReadMetric(
      s"pulsar${TierMetric.word(level)}${measure.name}",
      s"Pulsar ${measure.name.toLowerCase} read from ${TierMetric.place(level)}"
    )(_.levels.of(level, measure))

final class BrokerEntries extends TierMetric(Tier.Broker, Measure.Entries)
final class BrokerBytes   extends TierMetric(Tier.Broker, Measure.Bytes)
final class BrokerRows    extends TierMetric(Tier.Broker, Measure.Rows)
final class BookieEntries extends TierMetric(Tier.Bookies, Measure.Entries)
final class BookieBytes   extends TierMetric(Tier.Bookies, Measure.Bytes)
final class BookieRows    extends TierMetric(Tier.Bookies, Measure.Rows)
final class TieredEntries extends TierMetric(Tier.Tiered, Measure.Entries)
final class TieredBytes   extends TierMetric(Tier.Tiered, Measure.Bytes)
final class TieredRows    extends TierMetric(Tier.Tiered, Measure.Rows)

private[pulsarspark] object TierMetric {

  val all: Seq[TierMetric] = Seq(
    new BrokerEntries,
    new BrokerBytes,
    new BrokerRows,
    new BookieEntries,
    new BookieBytes,
    new BookieRows,
    new TieredEntries,
    new TieredBytes,
    new TieredRows
  )

  private def word(level: Tier): String = level match {
    case Tier.Broker  => "Broker"
    case Tier.Bookies => "Bookie"
    case Tier.Tiered  => "Tiered"
  }

  private def place(level: Tier): String = level match {
    case Tier.Broker  => "brokers"
    case Tier.Bookies => "bookies"
    case Tier.Tiered  => "offloaded storage"
  }
}
