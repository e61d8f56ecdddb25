package io.github.pulsarspark.inspect.view

import org.apache.hadoop.conf.Configuration

import io.github.pulsarspark.options.MetadataOptions

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
}
