package io.github.pulsarspark.metrics

import io.github.pulsarspark.storage.Level

/** In what an amount is counted. */
private[pulsarspark] sealed abstract class Measure(val name: String, val ordinal: Int)

private[pulsarspark] object Measure {
  case object Entries extends Measure("Entries", 0)
  case object Bytes   extends Measure("Bytes", 1) // of entries as they are stored
  case object Rows    extends Measure("Rows", 2)

  val all: Seq[Measure] = Seq(Entries, Bytes, Rows) // by ordinal
}

/** How much of a read one level delivered: `pulsarBrokerEntries`, `pulsarBookieBytes`, ... */
private[pulsarspark] abstract class LevelMetric(val level: Level, val measure: Measure)
    extends Metric(
      s"pulsar${LevelMetric.word(level)}${measure.name}",
      s"Pulsar ${measure.name.toLowerCase} read from ${LevelMetric.place(level)}"
    )

final class BrokerEntries extends LevelMetric(Level.Broker, Measure.Entries)
final class BrokerBytes   extends LevelMetric(Level.Broker, Measure.Bytes)
final class BrokerRows    extends LevelMetric(Level.Broker, Measure.Rows)
final class BookieEntries extends LevelMetric(Level.Bookies, Measure.Entries)
final class BookieBytes   extends LevelMetric(Level.Bookies, Measure.Bytes)
final class BookieRows    extends LevelMetric(Level.Bookies, Measure.Rows)
final class TieredEntries extends LevelMetric(Level.Tiered, Measure.Entries)
final class TieredBytes   extends LevelMetric(Level.Tiered, Measure.Bytes)
final class TieredRows    extends LevelMetric(Level.Tiered, Measure.Rows)

private[pulsarspark] object LevelMetric {

  val all: Seq[LevelMetric] = Seq(
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

  private def word(level: Level): String = level match {
    case Level.Broker  => "Broker"
    case Level.Bookies => "Bookie"
    case Level.Tiered  => "Tiered"
  }

  private def place(level: Level): String = level match {
    case Level.Broker  => "brokers"
    case Level.Bookies => "bookies"
    case Level.Tiered  => "offloaded storage"
  }
}
