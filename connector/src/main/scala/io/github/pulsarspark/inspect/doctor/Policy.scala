package io.github.pulsarspark.inspect.doctor

import com.fasterxml.jackson.databind.JsonNode

import io.github.pulsarspark.errors.{Conditions, Occurrence}

/** A policy of a topic by which messages are deleted. Pure.
  *
  * @param name
  *   of the check
  */
private[doctor] sealed abstract class Policy(val name: String) {

  /** @param ask
    *   requests the policy of a name that is in force
    * @param subscription
    *   the one that keeps messages for a stream
    */
  def finding(topic: String, ask: String => Option[JsonNode], subscription: Option[String]): Finding
}

private[doctor] object Policy {

  val all: Seq[Policy] = Seq(Retention, Ttl, BacklogQuota)

  /** Messages are kept after all subscriptions have them only where both bounds are set. */
  private def retention(ask: String => Option[JsonNode]): Option[String] = {
    val found                              = ask("retention")
    def bound(field: String, unit: String) = found.fold(0L)(_.path(field).asLong) match {
      case 0          => None
      case n if n < 0 => Some("")
      case n          => Some(s" $n $unit")
    }
    for (time <- bound("retentionTimeInMinutes", "minutes"); size <- bound("retentionSizeInMB", "MB"))
      yield
        if (time.isEmpty && size.isEmpty) "for ever"
        else Seq(time, size).filter(_.nonEmpty).mkString("up to", " and", "")
  }

  private case object Retention extends Policy("retention") {
    override def finding(topic: String, ask: String => Option[JsonNode], subscription: Option[String]): Finding =
      (retention(ask), subscription) match {
        case (Some(time), _)      => Finding.Good(time)
        case (None, Some(reader)) => Finding.Good(s"none, but subscription $reader keeps what is not read")
        case (None, None)         => Finding.Doubtful(Conditions.PolicyLosesDataRetention(topic = topic))
      }
  }

  private case object Ttl extends Policy("message TTL") {
    override def finding(topic: String, ask: String => Option[JsonNode], subscription: Option[String]): Finding =
      ask("messageTTL").fold(0L)(_.asLong) match {
        case 0       => Finding.Good("none")
        case seconds => unlessKept(s"$seconds s", ask, subscription,
            Conditions.PolicyLosesDataTtl(topic = topic, seconds = seconds.toString))
      }
  }

  private case object BacklogQuota extends Policy("backlog quota") {
    override def finding(topic: String, ask: String => Option[JsonNode], subscription: Option[String]): Finding =
      ask("backlogQuotaMap").toSeq.flatMap(quotas).headOption.fold[Finding](Finding.Good("none that evicts"))(limit =>
        unlessKept(s"evicts above $limit", ask, subscription,
          Conditions.PolicyLosesDataBacklogQuota(topic = topic, limit = limit))
      )
  }

  /** Limits of the quotas that delete what a subscription has not read. */
  private def quotas(found: JsonNode): Seq[String] = for {
    (kind, unit, fields) <-
      Seq(("destination_storage", "bytes", Seq("limitSize", "limit")), ("message_age", "s", Seq("limitTime")))
    quota = found.path(kind)
    if quota.path("policy").asText == "consumer_backlog_eviction"
    limit <- fields.map(quota.path(_).asLong).find(_ > 0)
  } yield s"$limit $unit"

  /** The policy harms a subscription alone, and none where retention keeps what is deleted of its backlog. */
  private def unlessKept(
      value: String,
      ask: String => Option[JsonNode],
      subscription: Option[String],
      harm: Occurrence
  ): Finding =
    if (subscription.isEmpty) Finding.Good(s"$value, which concerns subscriptions alone")
    else if (retention(ask).isDefined) Finding.Good(s"$value, but retention keeps messages")
    else Finding.Doubtful(harm)
}
