package io.github.pulsarspark.options.registry

import java.util.regex.{Pattern, PatternSyntaxException}

import scala.util.Try

import io.github.pulsarspark.errors.Conditions

/** The forms of option values. Forms that only the cluster can check (topics, offsets, columns) are checked where they
  * are used.
  */
private[pulsarspark] object OptionValue {

  private val size        = raw"(\d{1,15})(\.\d{1,9})?\s*(?:([kmg])i?)?b?".r
  private val address     = raw"([^\s=,]+)=([^\s=,:]+:\d{1,5})".r
  private val hostAndPort = raw"[^\s/,:]+:\d{1,5}".r
  private val serviceUrl  = raw"(pulsar|pulsar\+ssl|http|https)://[^\s/,]+(:\d+)?(,[^\s/,]+(:\d+)?)*/?".r

  /** Fails with `PULSAR_OPTION_INVALID` unless `value` has the form of `definition`, and for names of topics that are
    * not read or written here. The text does not repeat a secret.
    */
  def check(definition: OptionDefinition, value: String): Unit = {
    ScalableTopics.check(definition, value)
    violation(definition, value).foreach(allowed =>
      throw Conditions.OptionInvalid(option = definition.key, value = if (definition.secret) Secret.Mask else value,
        allowed = allowed + hint(definition, value.trim)).exception
    )
  }

  /** Suggestion of a valid value, for an error. */
  private def hint(definition: OptionDefinition, value: String): String = definition.valueType match {
    case "enum" => NearestName(value, definition.values).fold("")(near => s"; the nearest is `$near`")
    case "serviceUrl" if hostAndPort.matches(value) => s"; perhaps `pulsar://$value` is meant"
    case _                                          => ""
  }

  /** The form of `definition` in words, if `value` does not have it. */
  def violation(definition: OptionDefinition, value: String): Option[String] =
    form(definition).collect { case (allowed, holds) if !holds(value.trim) => allowed }

  /** True if two values mean the same: numbers and words are compared, not their spelling. */
  def areEqual(definition: OptionDefinition, one: String, other: String): Boolean = {
    def plain(value: String) = definition.valueType match {
      case "duration"         => duration(value).fold(value.trim)(_.toString)
      case "boolean" | "enum" => value.trim.toLowerCase
      case _                  => value.trim
    }
    plain(one) == plain(other)
  }

  /** `16m` -> 16777216, as `16MB` and `16 MiB`. */
  def bytes(value: String): Option[Long] = value.trim.toLowerCase match {
    case size(n, fraction, unit) if fraction == null || unit != null =>
      val factor = Map("k" -> 1024L, "m" -> (1L << 20), "g" -> (1L << 30)).getOrElse(unit, 1L)
      Some(BigDecimal(n + Option(fraction).mkString) * factor).map(_.toBigInt).filter(_.isValidLong).map(_.toLong)
    case _ => None
  }

  /** `15m` -> 900000 milliseconds. */
  def duration(value: String): Option[Long] = Durations.milliseconds(value.trim)

  /** `b1=host:3181,b2=host:3182` -> addresses by bookie id. */
  def addresses(value: String): Option[Map[String, String]] = {
    val pairs = value.split(",").map(_.trim).toSeq.collect { case address(id, host) => id -> host }
    Option.when(pairs.size == value.split(",").length && pairs.map(_._1).distinct.size == pairs.size)(pairs.toMap)
  }

  /** `public/default` -> tenant and namespace. Fails with `PULSAR_OPTION_INVALID` for any other form. */
  def namespace(option: String, value: String): (String, String) = value.trim.split("/", -1) match {
    case Array(tenant, name) if tenant.nonEmpty && name.nonEmpty => (tenant, name)
    case _ => throw Conditions.OptionInvalid(option = option, value = value, allowed = "tenant/namespace").exception
  }

  /** `a, b` -> both names; empty items are ignored. */
  def topics(value: String): Seq[String] = value.split(',').toSeq.map(_.trim).filter(_.nonEmpty)

  /** The allowed form in words, and the check of it. */
  private def form(definition: OptionDefinition): Option[(String, String => Boolean)] = definition.valueType match {
    case "boolean" => Some(("true or false", v => v.equalsIgnoreCase("true") || v.equalsIgnoreCase("false")))
    case "bytes"   =>
      val least = definition.min.getOrElse(0L)
      Some((s"a number of bytes, at least $least, as `16m`", v => bytes(v).exists(_ >= least)))
    case "duration" =>
      val least = definition.min.getOrElse(0L)
      Some((Durations.form(least), v => duration(v).exists(_ >= least)))
    case "count" =>
      val least = definition.min.getOrElse(0L)
      val words = definition.max.fold(s"a whole number, at least $least")(most =>
        s"a whole number from $least to $most"
      )
      Some((words, v => Try(v.toInt).toOption.exists(n => n >= least && definition.max.forall(n <= _))))
    case "addresses" => Some(("`id=host:port`, more of them after commas", addresses(_).isDefined))
    case "enum"      =>
      Some((definition.values.mkString("one of ", ", ", ""), v => definition.values.contains(v.toLowerCase)))
    case "serviceUrl" =>
      Some(("pulsar://host:port or pulsar+ssl://host:port (more hosts after commas), or http(s)://host:port",
        v => serviceUrl.matches(v)))
    case "topicPattern" =>
      Some(
        ("a Java regular expression, with `tenant/namespace/` before it if need be", v => v.nonEmpty && isPattern(v))
      )
    case "topic" => Some(
        ("the name of one topic, without commas (reads take several in `topics`)", v => v.nonEmpty && !v.contains(','))
      )
    case "topicList" => Some(("names of topics with commas between them", topics(_).nonEmpty))
    case "string" | "offsets" | "times" | "metadataColumns" => Some(("a text that is not empty", _.nonEmpty))
    case other                                              => sys.error(s"the option table has an unknown type $other")
  }

  private def isPattern(text: String): Boolean =
    try { Pattern.compile(text); true }
    catch { case _: PatternSyntaxException => false }
}
