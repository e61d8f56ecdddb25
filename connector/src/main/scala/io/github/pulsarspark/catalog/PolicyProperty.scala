package io.github.pulsarspark.catalog

import com.fasterxml.jackson.databind.JsonNode

import io.github.pulsarspark.options.registry.OptionValue

/** A property of a table that is a policy of its topic. Pure.
  *
  * @param name
  *   in TBLPROPERTIES
  * @param policy
  *   its name in the admin service
  * @param field
  *   of the policy that holds the value; None for the policy itself
  * @param form
  *   the values that are allowed, in words
  * @param parse
  *   the value as brokers count it
  * @param text
  *   of such a value, as users write it
  */
private[catalog] final class PolicyProperty private (
    val name: String,
    val policy: String,
    val field: Option[String],
    val form: String,
    val parse: String => Option[Long],
    val text: Long => String
) {

  /** The value in a policy; None if it has none. */
  def read(policy: JsonNode): Option[Long] = field.fold(policy)(policy.path) match {
    case flag if flag.isBoolean    => Some(if (flag.booleanValue) 1L else 0L)
    case number if number.isNumber => Some(number.longValue)
    case _                         => None
  }

  private def json(value: Long) = if (policy == PolicyProperty.Deduplication) text(value) else value.toString

  override def toString: String = name
}

private[catalog] object PolicyProperty {

  /** Brokers' number for no limit. */
  val Infinite: Long = -1L

  private val Deduplication = "deduplicationEnabled"
  private val Minute        = 60000L
  private val Megabyte      = 1L << 20

  /** Every property, those of one policy together. */
  val all: Seq[PolicyProperty] = Seq(
    new PolicyProperty(
      "retention.time",
      "retention",
      Some("retentionTimeInMinutes"),
      "Use whole minutes with a unit, as `90m` or `7d`; `infinite`; or `0` together with retention.size = 0",
      infinite(time(_, Minute)),
      shown(_, Minute, Times)
    ),
    new PolicyProperty(
      "retention.size",
      "retention",
      Some("retentionSizeInMB"),
      "Use whole megabytes, as `512m` or `10g`; `infinite`; or `0` together with retention.time = 0",
      infinite(size(_, Megabyte)),
      shown(_, Megabyte, Sizes)
    ),
    new PolicyProperty("messageTTL", "messageTTL", None,
      "Use whole seconds with a unit, as `30s` or `2h`; or `0` for none",
      time(_, 1000L), shown(_, 1000L, Times)),
    new PolicyProperty("compactionThreshold", "compactionThreshold", None,
      "Use a number of bytes, as `100m`; or `0` for no compaction",
      size(_, 1L), shown(_, 1L, Sizes)),
    new PolicyProperty(
      Deduplication,
      Deduplication,
      None,
      "Use true or false",
      v => Seq("false", "true").indexOf(v.toLowerCase) match { case -1 => None; case n => Some(n.toLong) },
      n => (n != 0).toString
    )
  )

  /** Names of the policies in the admin service. */
  val policies: Seq[String] = all.map(_.policy).distinct

  /** The property of a name in any case. */
  def find(name: String): Option[PolicyProperty] = all.find(_.name.equalsIgnoreCase(name))

  /** The values in a policy. */
  def read(name: String, policy: JsonNode): Map[PolicyProperty, Long] =
    all.filter(_.policy == name).flatMap(p => p.read(policy).map(p -> _)).toMap

  /** A policy with these values, as the admin service takes it. */
  def json(values: Map[PolicyProperty, Long]): String = values.toSeq match {
    case Seq((p, value)) if p.field.isEmpty => p.json(value)
    case several                            =>
      several.flatMap { case (p, v) => p.field.map(f => s""""$f":${p.json(v)}""") }.mkString("{", ",", "}")
  }

  private def infinite(parse: String => Option[Long])(value: String): Option[Long] =
    if (value.equalsIgnoreCase("infinite") || value == Infinite.toString) Some(Infinite) else parse(value)

  /** A time without a unit would be milliseconds here, and minutes or seconds for Pulsar. */
  private def time(value: String, unit: Long): Option[Long] =
    OptionValue.duration(value).filter(n => n == 0 || !value.forall(_.isDigit)).flatMap(whole(_, unit))
      .filter(_ <= Int.MaxValue)

  private def size(value: String, unit: Long): Option[Long] = OptionValue.bytes(value).flatMap(whole(_, unit))

  private def whole(value: Long, unit: Long) = Option.when(value % unit == 0)(value / unit)

  private val Times = Seq(24 * 60 * Minute -> "d", 60 * Minute -> "h", Minute -> "m", 1000L -> "s")
  private val Sizes = Seq((1L << 30) -> "g", Megabyte -> "m", 1024L -> "k", 1L -> "")

  private def shown(value: Long, unit: Long, units: Seq[(Long, String)]): String = value match {
    case 0        => "0"
    case Infinite => "infinite"
    case n        =>
      val (factor, name) = units.find { case (factor, _) => n * unit % factor == 0 }.getOrElse(units.last)
      s"${n * unit / factor}$name"
  }
}
