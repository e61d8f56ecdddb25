package io.github.pulsarspark.pulsar

import java.util.UUID

/** Names of the non-durable subscriptions under which a broker sees our readers; never the same twice. */
private[pulsar] object SubscriptionNames {
  def fresh(prefix: String, role: String): String = s"$prefix-$role-${UUID.randomUUID}"
}
