package io.github.pulsarspark.pulsar.transactions

import com.fasterxml.jackson.databind.JsonNode
import org.slf4j.LoggerFactory

import io.github.pulsarspark.pulsar.admin.AdminApi

/** The policies of a namespace that stop a sink whose control topics are there: by design their last records are never
  * acknowledged.
  */
private[pulsarspark] object ControlPolicies {
  private val log = LoggerFactory.getLogger(getClass)

  /** Warns of them as soon as the admin service answers.
    *
    * @param sink
    *   its id
    */
  def warn(admin: AdminApi, namespace: String, sink: String): Unit =
    PolicyWarning(log, admin, s"v2/namespaces/$namespace", s"policies of namespace $namespace")(problems)(found =>
      log.warn(
        "Sink {} keeps its state in namespace {}, which has {}. When the query stands still for longer, or is " +
          "stopped, it cannot go on. Remove these policies, or set sinkNamespace to a namespace without them",
        sink,
        namespace,
        found
      )
    )

  /** Policies that stop an idle sink, each with its time limit, in words. */
  private[transactions] def problems(policies: JsonNode): Seq[String] = Seq(
    ("a message TTL", policies.path("message_ttl_in_seconds"), "s"),
    ("an expiry of subscriptions", policies.path("subscription_expiration_time_minutes"), "min"),
    ("a backlog quota by age", policies.path("backlog_quota_map").path("message_age").path("limitTime"), "s")
  ).collect { case (what, limit, unit) if limit.longValue > 0 => s"$what of ${limit.longValue} $unit" }
}
