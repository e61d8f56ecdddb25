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
    val secrets = options.toSeq.sorted.filter { case (key, value) => isSecret(key) && !isReference(key, value) }
    val shown   = secrets.view.flatMap { case (key, value) =>
      reason(started, prefix + key, value).map(prefix + key -> _)
    }
    shown.headOption.foreach { case (setting, why) =>
      throw Conditions.SettingSecret(setting = setting, why = why).exception
    }
  }

  private def reason(started: String => Option[String], setting: String, value: String): Option[String] = {
    val hidden = started("spark.redaction.regex").getOrElse(SparkPattern).r
    if (hidden.findFirstIn(setting).isEmpty) Some("it hides no setting of that name")
    else Option.unless(started(setting).contains(value))("it hides only what is set before it starts")
  }

  private def isSecret(key: String): Boolean =
    OptionRegistry.find(key).fold(SettingEnds.exists(key.toLowerCase.endsWith(_)))(_.secret)

  /** True if the value says where the secret is. */
  private def isReference(key: String, value: String): Boolean = References.exists { case (end, pattern) =>
    key.toLowerCase.endsWith(end) && pattern.findPrefixOf(value).isDefined
  }

  /** Ends of the names of the Pulsar client's own settings that hold a secret, in lower case. */
  private val SettingEnds = Seq("authparams", "params", "password")

  /** Ends of the names of options that may refer to a secret, with how such a value begins. A token is what it is. */
  private val References: Seq[(String, Regex)] =
    Seq("params" -> "(?i)\\s*file:".r, "credentialsurl" -> "(?i)\\s*(file|https?):".r)

  /** The default of `spark.redaction.regex`. */
  private val SparkPattern = "(?i)secret|password|token|access[.]?key"
}
