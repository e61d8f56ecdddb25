package io.github.pulsarspark

import java.util.{Map => JMap}

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.SparkSession

/** Spark puts the options of a write into plans and the event log, and masks those that its own patterns take for
  * secrets. The parameters of the Pulsar client's plug-ins are not among them: when such an option is used, the pattern
  * of the session is widened by it.
  */
private[pulsarspark] object PlanRedaction {

  private val Setting = "spark.sql.redaction.options.regex"
  private val Ours    = "(?i)auth\\.?param|pluginParam"
  private val ours    = Ours.r

  def cover(options: JMap[String, String]): Unit =
    if (options.keySet.asScala.exists(ours.findFirstIn(_).isDefined)) {
      val settings = SparkSession.active.conf
      val pattern  = settings.get(Setting)
      if (!pattern.contains(Ours)) settings.set(Setting, s"$pattern|$Ours")
    }
}
