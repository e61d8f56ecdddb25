package io.github.pulsarspark.storage.segment

import scala.jdk.CollectionConverters._

import org.apache.hadoop.conf.Configuration

import io.github.pulsarspark.options.registry.Secret

/** File system settings of the driver that tasks need too: those that are not Hadoop's own defaults. They may hold
  * credentials, so their text shows none of them.
  */
private[pulsarspark] final class HadoopSettings private (entries: Seq[(String, Secret)]) extends Serializable {

  @transient lazy val configuration: Configuration = {
    val result = new Configuration()
    entries.foreach { case (key, value) => result.set(key, value.reveal) }
    result
  }

  override def toString: String = s"HadoopSettings(${entries.size} entries)"
}

private[pulsarspark] object HadoopSettings {

  /** Settings of the driver's configuration that concern file systems. */
  def of(configuration: Configuration): HadoopSettings = new HadoopSettings(
    configuration.iterator.asScala
      .map(e => e.getKey -> e.getValue)
      .collect {
        case (key, value) if Prefixes.exists(key.startsWith(_)) && !isDefault(configuration, key) =>
          key -> Secret(Option(configuration.get(key)).getOrElse(value))
      }
      .toSeq
  )

  /** No settings, for reads that go to brokers alone. */
  val none: HadoopSettings = new HadoopSettings(Nil)

  private val Prefixes = Seq("fs.", "dfs.", "hadoop.", "io.", "ipc.", "google.", "viewfs.")

  private def isDefault(configuration: Configuration, key: String): Boolean =
    Option(configuration.getPropertySources(key)).exists(sources =>
      sources.nonEmpty && sources.forall(_.endsWith("-default.xml"))
    )
}
