package io.github.pulsarspark.options.registry

import scala.util.matching.Regex

import io.github.pulsarspark.errors.Conditions

/** Refuses options that are settings of Spark and hold a secret which Spark shows. In its UI and its event log Spark
  * hides what it was started with, if the name fits `spark.redaction.regex` (`EventLoggingListener.redactProperties`).
  * What a program sets later, and other names, are there in clear.
  *
  * It does not know of secrets in settings that the connector does not know.
  */
private[pulsarspark] object SettingSecrets {

  /** @param started
    *   a setting as Spark was started with it
    * @param prefix
    *   what the settings of these options begin with
    */
  def check(started: String => Option[String], prefix: String, options: Map[String, String]): Unit = {
    val secrets = options.toSeq.sorted.filter { case (key, value) => isSecret(key, value) }
    if (secrets.nonEmpty) {
      val hidden = started("spark.redaction.regex").getOrElse(SparkPattern).r
      secrets.foreach { case (key, value) =>
        reason(started, hidden, prefix + key, value).foreach(why =>
          throw Conditions.SettingSecret(setting = prefix + key, why = why).exception
        )
      }
    }
  }

  private def reason(started: String => Option[String], hidden: Regex, setting: String, value: String): Option[String] =
    if (hidden.findFirstIn(setting).isEmpty) Some("it hides no setting of that name")
    else Option.unless(started(setting).contains(value))("it hides only what is set before it starts")

  private def isSecret(key: String, value: String): Boolean = {
    val isKnown  = OptionRegistry.definitions.find(_.key.equalsIgnoreCase(key)).map(_.secret)
    val isNamed  = SettingEnds.exists(key.toLowerCase.endsWith(_))
    val isInFile = InFile.findPrefixOf(value).isDefined
    isKnown.getOrElse(isNamed) && !isInFile
  }

  /** Ends of the names of the Pulsar client's own settings that hold a secret, in lower case. */
  private val SettingEnds = Seq("authparams", "params", "password")

  private val InFile = "(?i)\\s*(file|https?):".r

  /** The default of `spark.redaction.regex`. */
  private val SparkPattern = "(?i)secret|password|token|access[.]?key"
}
