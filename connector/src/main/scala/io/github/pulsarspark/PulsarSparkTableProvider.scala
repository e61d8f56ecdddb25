package io.github.pulsarspark

/** Data source `pulsar-spark`: like `pulsar`, but under a name that no other connector has. */
final class PulsarSparkTableProvider extends PulsarTableProvider {
  override def shortName(): String = SourceNames.Unique
}
