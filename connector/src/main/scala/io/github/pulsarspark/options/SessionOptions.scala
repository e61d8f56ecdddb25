package io.github.pulsarspark.options

import org.apache.spark.sql.SparkSession

/** Options set for a whole session. Spark mixes them into those of a read or write before it requests the table, so
  * that only their values distinguish them.
  */
private[pulsarspark] object SessionOptions {
  val Name: String = "pulsar"

  private val Prefix = s"spark.datasource.$Name."

  /** Options of the active session. */
  def now(): Map[String, String] = of(SparkSession.active)

  def of(session: SparkSession): Map[String, String] =
    session.conf.getAll.collect { case (key, value) if key.startsWith(Prefix) => key.stripPrefix(Prefix) -> value }
}
