package io.github.pulsarspark.options

import org.apache.spark.SparkEnv
import org.apache.spark.sql.SparkSession

import io.github.pulsarspark.options.registry.{CheckedOptions, RawOptions, Scope, SettingSecrets}

/** Options set for a whole session. Spark mixes them into those of a read or write before it requests the table, so
  * that only their values distinguish them.
  */
private[pulsarspark] object SessionOptions {
  val Name: String = "pulsar"

  private val Prefix = s"spark.datasource.$Name."

  /** Options of the active session. */
  def now(): Map[String, String] = of(SparkSession.active)

  /** The options of a call that is no read or write, over those of the session, as the data source has them from Spark.
    *
    * @param fieldsOf
    *   the names of the Pulsar client's own settings under a prefix
    */
  def check(session: SparkSession, options: Map[String, String], fieldsOf: String => Seq[String], scope: Scope)
      : CheckedOptions = {
    val inSession = of(session)
    val more      = inSession.filterNot { case (key, _) => options.keys.exists(_.equalsIgnoreCase(key)) }
    new RawOptions(more ++ options, fieldsOf, inSession).check(scope)
  }

  /** True if Spark takes names of columns that differ in their case for different names; false without Spark. */
  def isCaseSensitive: Boolean =
    SparkSession.getActiveSession.orElse(SparkSession.getDefaultSession)
      .exists(_.conf.get("spark.sql.caseSensitive").toBoolean)

  /** Fails for a secret that Spark shows. */
  def of(session: SparkSession): Map[String, String] = {
    val set =
      session.conf.getAll.collect { case (key, value) if key.startsWith(Prefix) => key.stripPrefix(Prefix) -> value }
    SettingSecrets.check(SparkEnv.get.conf.getOption, Prefix, set)
    set
  }
}
