package io.github.pulsarspark

/** The same data source as `pulsar-spark`, a name that no other connector has. */
final class PulsarSparkTableProvider extends PulsarTableProvider {
  override def shortName(): String = SourceNames.Unique
}
