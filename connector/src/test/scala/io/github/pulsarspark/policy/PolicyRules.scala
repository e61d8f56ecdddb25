package io.github.pulsarspark.policy

import munit.Assertions

import io.github.pulsarspark.errors.PulsarError

/** Policies for tests, and what they refuse. */
private[policy] trait PolicyRules extends Assertions {

  /** @param settings
    *   without the prefix
    */
  def shared(settings: (String, String)*): Policy = PolicySettings.policy(settings.toMap + ("mode" -> "shared")).get

  /** Fails unless the rule refuses, and the error names the option and the setting; returns what was asked for. */
  def refused(key: String)(rule: => Any): String = {
    val e = intercept[IllegalArgumentException with PulsarError](rule)
    assertEquals((e.condition, e.parameters("option"), e.parameters("key")),
      ("PULSAR_POLICY_REFUSED", "x.option", s"spark.pulsar.policy.$key"))
    e.parameters("what")
  }
}
