package io.github.pulsarspark.inspect.view

import org.apache.hadoop.conf.Configuration

import io.github.pulsarspark.options.{MetadataOptions, TopicSelection}
import io.github.pulsarspark.pulsar.topics.TopicNames

/** A request for the rows of a [[MetadataView]].
  *
  * @param columns
  *   names of the columns that are used
  * @param hadoop
  *   settings of file systems
  * @param parallelism
  *   tasks that the cluster of Spark runs at a time
  */
private[pulsarspark] final class MetadataRequest(
    val options: MetadataOptions,
    columns: Set[String],
    hadoop: => Configuration,
    val parallelism: Int
) {

  /** True if one of these columns is used. */
  def uses(names: String*): Boolean = names.exists(columns)

  def fileSystems: Configuration = hadoop

  /** Namespace of the state of sinks: the option, else that of the first topic. */
  def sinkNamespace: Option[String] = options.sinkNamespace.orElse(options.read.topics match {
    case TopicSelection.Named(names) => names.headOption.map(TopicNames.namespace)
    case TopicSelection.Matching(_)  => None
  })
}
